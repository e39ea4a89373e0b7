import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { signOut, whoAmI, type Who } from "./api";
import { Overview } from "./Overview";
import { SignIn } from "./SignIn";
import "uplot/dist/uPlot.min.css";
import "./style.css";

type Stage = { at: "loading" } | { at: "sign-in"; notice?: string } | { at: "overview"; who: Who };

function App() {
  const [stage, setStage] = useState<Stage>({ at: "loading" });
  const leave = (notice?: string) => setStage({ at: "sign-in", notice });

  useEffect(() => {
    whoAmI().then(
      (who) => setStage(who ? { at: "overview", who } : { at: "sign-in" }),
      () => leave("The service does not answer. Reload this page in a moment."),
    );
  }, []);

  if (stage.at === "loading") return null;
  if (stage.at === "sign-in") {
    return <SignIn notice={stage.notice} onSignedIn={(who) => setStage({ at: "overview", who })} />;
  }
  return (
    <Overview
      who={stage.who}
      onSignOut={() => signOut().then(() => leave("You are signed out."), (error: Error) => leave(error.message))}
      onSessionEnd={() => leave("Your session has ended. Sign in again.")}
    />
  );
}

render(<App />, document.getElementById("app")!);
