import { useState } from "preact/hooks";

/** Something that is shown this once: to be copied now. */
export function Secret({ label, text }: { label: string; text: string }) {
  const [copied, setCopied] = useState(false);
  const copy = () => navigator.clipboard.writeText(text).then(() => setCopied(true), () => setCopied(false));
  return (
    <div class="secret">
      <p id="secret-label">{label}</p>
      <pre tabIndex={0} aria-labelledby="secret-label">{text}</pre>
      <button type="button" onClick={copy}>{copied ? "Copied" : "Copy"}</button>
      <p class="quiet">It is shown only now.</p>
    </div>
  );
}
