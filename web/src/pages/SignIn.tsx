import { useEffect, useRef, useState } from "preact/hooks";
import { sentenceOf, signIn, type Who } from "../api";
import { Mark } from "../ui/Mark";
import { Text } from "../ui/Text";

interface Props {
  notice?: string;
  onSignedIn: (who: Who) => void;
}

type Way = "password" | "token";

export function SignIn({ notice, onSignedIn }: Props) {
  const form = useRef<HTMLFormElement>(null);
  const [way, setWay] = useState<Way>("password");
  const [refusal, setRefusal] = useState("");
  const [busy, setBusy] = useState(false);

  useEffect(() => {
    document.title = "Sign in · Catchment";
  }, []);
  useEffect(() => {
    form.current!.querySelector<HTMLInputElement>("input:not([hidden])")?.focus();
  }, [way]);

  const submit = async (event: Event) => {
    event.preventDefault();
    const said = new FormData(form.current!);
    const text = (name: string) => String(said.get(name) ?? "");
    setBusy(true);
    try {
      onSignedIn(await signIn(way === "token" ? { token: text("token").trim() } : { name: text("username").trim(), password: text("password") }));
    } catch (error) {
      setRefusal(sentenceOf(error));
      setBusy(false);
      form.current!.querySelector<HTMLInputElement>("input[type=password]")?.select();
    }
  };
  const change = () => {
    setWay(way === "token" ? "password" : "token");
    setRefusal("");
  };
  const wrong = refusal ? ("true" as const) : undefined;
  return (
    <main class="sign-in">
      <form class="card" ref={form} onSubmit={submit}>
        <h1><Mark /> Catchment</h1>
        {notice && !refusal && <p class="notice" role="status">{notice}</p>}
        {way === "password" ? (
          <>
            <label for="username">Name</label>
            <input id="username" name="username" autocomplete="username" autocapitalize="none" spellcheck={false} required aria-invalid={wrong} />
            <label for="password">Password</label>
            <input id="password" name="password" type="password" autocomplete="current-password" required aria-invalid={wrong} />
          </>
        ) : (
          <>
            {/* Password managers keep a secret under a name. */}
            <input type="text" name="username" autocomplete="username" value="token" hidden />
            <label for="token">Token</label>
            <input id="token" name="token" type="password" autocomplete="current-password" spellcheck={false} required aria-invalid={wrong} aria-describedby="token-help" />
          </>
        )}
        {refusal && <p class="refusal" role="alert"><Text>{refusal}</Text></p>}
        <button type="submit" class="primary" disabled={busy}>{busy ? "Signing in…" : "Sign in"}</button>
        <button type="button" class="plain" onClick={change}>
          {way === "token" ? "Use a name and a password" : "Use a token"}
        </button>
        {way === "token" && (
          <p id="token-help" class="quiet">
            The node prints a token when it starts. Others are made with <code>catchment token create NAME</code>.
          </p>
        )}
        <p class="quiet">Nobody gave you a password? <a href="/docs/how-to/tokens-and-sign-in.html">The manual</a> says who can.</p>
      </form>
    </main>
  );
}
