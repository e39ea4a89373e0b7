"use strict";

// Search in the browser: the index is one file of the manual, and no word of a question leaves the page.
(() => {
  const MOST_RESULTS = 12;
  const AROUND_CHARACTERS = 70;
  const field = document.getElementById("query");
  const found = document.getElementById("found");
  const base = document.body.dataset.base;
  let loading = null;

  function load() {
    loading ??= fetch(`${base}/search/search_index.json`).then((answer) => answer.json()).then(withPages);
    return loading;
  }

  function withPages({ docs }) {
    const sections = docs.map(prepared);
    const titles = new Map(sections.map((section) => [section.location, section.title]));
    for (const section of sections) section.page = titles.get(section.location.split("#")[0]) ?? "";
    return sections;
  }

  function prepared({ location, title, text }) {
    const plain = text.replaceAll(/\s+/g, " ");
    return { location, title, text: plain, inTitle: title.toLowerCase(), inText: plain.toLowerCase() };
  }

  /** How well a section answers: every word has to be in it, and words in headings count most. */
  function score(section, words) {
    let sum = section.location.includes("#") ? 0 : 8;
    if (section.inTitle === words.join(" ")) sum += 20;
    for (const word of words) {
      const often = section.inText.split(word).length - 1;
      const titled = section.inTitle.includes(word) || section.page.toLowerCase().includes(word);
      if (!often && !titled) return 0;
      sum += Math.min(often, 5) + (section.inTitle.includes(word) ? 20 : titled ? 6 : 0);
      if (section.inTitle.split(/[\s.`]+/).includes(word)) sum += 10;
    }
    return sum;
  }

  async function search() {
    const known = await load();
    // Asked for only now: more may have been typed meanwhile.
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return hide();
    const ranked = known.map((section) => ({ section, score: score(section, words) }))
      .filter((each) => each.score > 0)
      .sort((one, other) => other.score - one.score)
      .slice(0, MOST_RESULTS);
    found.replaceChildren(...ranked.map(({ section }) => result(section, words)));
    if (!ranked.length) found.append(paragraph("Nothing has all these words. Try fewer."));
    found.hidden = false;
  }

  function result(section, words) {
    const link = document.createElement("a");
    link.href = `${base}/${section.location}`;
    const title = document.createElement("strong");
    title.textContent = section.title;
    link.append(title);
    if (section.page && section.page !== section.title) link.append(` ${section.page}`);
    link.append(excerpt(section, words));
    return link;
  }

  function excerpt(section, words) {
    const line = paragraph("");
    const first = Math.max(0, section.inText.indexOf(words[0]));
    const begin = Math.max(0, first - AROUND_CHARACTERS);
    const text = section.text.slice(begin, first + 2 * AROUND_CHARACTERS);
    const mark = document.createElement("mark");
    mark.textContent = text.slice(first - begin, first - begin + words[0].length);
    if (section.inText.includes(words[0])) {
      line.append(begin ? "…" : "", text.slice(0, first - begin), mark, text.slice(first - begin + words[0].length));
    } else {
      line.append(text);
    }
    return line;
  }

  function paragraph(text) {
    const line = document.createElement("p");
    line.textContent = text;
    return line;
  }

  function hide() {
    found.hidden = true;
    found.replaceChildren();
  }

  function move(event) {
    const stops = [field, ...found.querySelectorAll("a")];
    const next = stops[stops.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1)];
    if (next) {
      event.preventDefault();
      next.focus();
    }
  }

  field.addEventListener("focus", load, { once: true });
  field.addEventListener("input", search);
  field.form.addEventListener("submit", async (event) => {
    event.preventDefault();
    await search();
    found.querySelector("a")?.click();
  });
  field.form.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") move(event);
    if (event.key === "Escape") hide();
  });
  found.addEventListener("click", (event) => event.target.closest("a") && setTimeout(hide));
  addEventListener("pointerdown", (event) => field.form.contains(event.target) || hide());
  addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== field) {
      event.preventDefault();
      field.focus();
    }
  });
})();
