"use strict";

// What makes a page of the manual comfortable. Everything can be read without it.

const menu = document.querySelector(".menu");
menu.addEventListener("click", () => {
  const open = document.getElementById("pages").classList.toggle("open");
  menu.setAttribute("aria-expanded", String(open));
});

if (location.pathname.startsWith("/docs/")) document.querySelector(".console").hidden = false;

const here = document.querySelector(".pages [aria-current]");
const pages = document.querySelector(".pages");
if (here) pages.scrollTop = here.offsetTop - pages.offsetTop - 200;

for (const block of document.querySelectorAll("main pre")) {
  block.tabIndex = 0;
  if (navigator.clipboard) offerCopy(block);
}

for (const table of document.querySelectorAll("main table")) {
  const frame = document.createElement("div");
  frame.className = "wide";
  frame.tabIndex = 0;
  frame.role = "region";
  frame.ariaLabel = "Table";
  table.replaceWith(frame);
  frame.append(table);
}

function offerCopy(block) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(block.textContent);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  const frame = document.createElement("div");
  frame.className = "code";
  block.replaceWith(frame);
  frame.append(block, button);
}
