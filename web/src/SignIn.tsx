import { useEffect, useRef, useState } from "preact/hooks";
import { signIn, type Who } from "./api";
import { Mark } from "./Mark";
import { Text } from "./Text";

interface Props {
  notice?: string;
  onSignedIn: (who: Who) => void;
}

export function SignIn({ notice, onSignedIn }: Props) {
  const field = useRef<HTMLInputElement>(null);
  const [refusal, setRefusal] = useState("");
  const [busy, setBusy] = useState(false);

  useEffect(() => {
    document.title = "Sign in · Catchment";
    field.current?.focus();
  }, []);

  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    try {
      onSignedIn(await signIn(field.current!.value.trim()));
    } catch (error) {
      setRefusal(error instanceof TypeError ? "The service does not answer. Try again in a moment." : (error as Error).message);
      setBusy(false);
      field.current!.select();
    }
  };

  return (
    <main class="sign-in">
      <form class="card" onSubmit={submit}>
        <h1>
          <Mark /> Catchment
        </h1>
        {notice && !refusal && <p class="notice" role="status">{notice}</p>}
        {/* Password managers keep a secret under a name. */}
        <input type="text" name="username" autocomplete="username" value="token" hidden />
        <label for="token">Token</label>
        <input
          id="token"
          ref={field}
          type="password"
          autocomplete="current-password"
          spellcheck={false}
          required
          aria-invalid={refusal ? "true" : undefined}
          aria-describedby="token-help"
        />
        {refusal && <p class="refusal" role="alert"><Text>{refusal}</Text></p>}
        <button type="submit" class="primary" disabled={busy}>
          {busy ? "Signing in…" : "Sign in"}
        </button>
        <p id="token-help" class="quiet">
          The node prints a token when it starts. Others are made with <code>catchment token create NAME</code>.
        </p>
      </form>
    </main>
  );
}
