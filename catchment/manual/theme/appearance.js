"use strict";

// Runs before anything is drawn: the manual looks as the console does in this browser.
{
  let chosen = null;
  try {
    chosen = localStorage.getItem("catchment-theme");
  } catch {
    // A page read from disk may have no storage.
  }
  if (chosen) document.documentElement.dataset.theme = chosen;
}
