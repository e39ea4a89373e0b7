import { useEffect, useRef, useState } from "preact/hooks";
import type { Who } from "../api";
import { applyTheme, storedTheme, THEMES, type Theme } from "../theme";

const TITLES: Record<Theme, string> = { system: "As the system", light: "Light", dark: "Dark" };

/** Who is signed in, how it looks, and the way out. */
export function AccountMenu({ who, onSignOut }: { who: Who; onSignOut: (everywhere: boolean) => void }) {
  const box = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(false);
  const [theme, setTheme] = useState(storedTheme);

  useEffect(() => {
    if (!open) return;
    const outside = (event: Event) => {
      if (!box.current?.contains(event.target as Node)) setOpen(false);
    };
    const escaped = (event: KeyboardEvent) => event.key === "Escape" && setOpen(false);
    addEventListener("pointerdown", outside);
    addEventListener("keydown", escaped);
    return () => {
      removeEventListener("pointerdown", outside);
      removeEventListener("keydown", escaped);
    };
  }, [open]);

  const choose = (chosen: Theme) => {
    applyTheme(chosen);
    setTheme(chosen);
  };
  return (
    <div class="account" ref={box}>
      <button type="button" class="who" aria-expanded={open} aria-controls="account" onClick={() => setOpen(!open)}>
        <span>{who.name}</span>
      </button>
      {open && (
        <div id="account" class="popover">
          {who.role && <p class="quiet">{who.role}</p>}
          <fieldset class="choice">
            <legend>Appearance</legend>
            {THEMES.map((each) => (
              <label key={each}>
                <input type="radio" name="theme" checked={each === theme} onChange={() => choose(each)} /> {TITLES[each]}
              </label>
            ))}
          </fieldset>
          <button type="button" onClick={() => onSignOut(false)}>Sign out</button>
          <button type="button" onClick={() => onSignOut(true)}>Sign out everywhere</button>
        </div>
      )}
    </div>
  );
}
