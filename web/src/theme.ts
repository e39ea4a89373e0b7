// Light, dark, or as the system has it. The choice is this browser's.
import { useEffect, useState } from "preact/hooks";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const KEY = "catchment-theme";
const CHANGED = "catchment-theme-changed";

export function storedTheme(): Theme {
  const stored = localStorage.getItem(KEY);
  return THEMES.find((theme) => theme === stored) ?? "system";
}

export function applyTheme(theme: Theme): void {
  localStorage.setItem(KEY, theme);
  document.documentElement.dataset.theme = theme;
  dispatchEvent(new Event(CHANGED));
}

/** Whether colours are dark now; a canvas has to be painted anew when it changes. */
export function useIsDark(): boolean {
  const [query] = useState(() => matchMedia("(prefers-color-scheme: dark)"));
  const isDark = () => (storedTheme() === "system" ? query.matches : storedTheme() === "dark");
  const [dark, setDark] = useState(isDark);
  useEffect(() => {
    const changed = () => setDark(isDark());
    query.addEventListener("change", changed);
    addEventListener(CHANGED, changed);
    return () => {
      query.removeEventListener("change", changed);
      removeEventListener(CHANGED, changed);
    };
  }, []);
  return dark;
}
