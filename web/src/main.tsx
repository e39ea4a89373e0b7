import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { sentenceOf, signOut, whenSessionEnds, whoAmI, type Who } from "./api";
import { NewPassword } from "./pages/NewPassword";
import { SignIn } from "./pages/SignIn";
import { go, to } from "./router";
import { Shell } from "./shell/Shell";
import { applyTheme, storedTheme } from "./theme";
import "uplot/dist/uPlot.min.css";
import "./css/palette.css";
import "./css/base.css";
import "./css/shell.css";
import "./css/parts.css";
import "./css/pages.css";

type Stage = { at: "loading" } | { at: "sign-in"; notice?: string } | { at: "inside"; who: Who };

function App() {
  const [stage, setStage] = useState<Stage>({ at: "loading" });
  const enter = (who: Who) => setStage({ at: "inside", who });
  const leave = (notice?: string) => setStage({ at: "sign-in", notice });
  const end = () => setStage((now) => (now.at === "inside" ? { at: "sign-in", notice: "Your session has ended. Sign in again." } : now));

  useEffect(() => {
    whenSessionEnds(end);
    whoAmI().then(
      (who) => (who ? enter(who) : leave()),
      () => leave("The service does not answer. Reload this page in a moment."),
    );
  }, []);

  if (stage.at === "loading") return null;
  if (stage.at === "sign-in") return <SignIn notice={stage.notice} onSignedIn={enter} />;
  if (stage.who.must_change_password) return <NewPassword who={stage.who} onChanged={enter} />;
  const out = async (everywhere: boolean) => {
    const said = await signOut(everywhere).then(() => "You are signed out.", sentenceOf);
    // Whoever signs in next begins at the beginning.
    go(to([]));
    leave(said);
  };
  return <Shell key={stage.who.name} who={stage.who} onSignOut={out} onSessionEnd={end} />;
}

applyTheme(storedTheme());
render(<App />, document.getElementById("app")!);
