import { defineConfig } from "vite";

export default defineConfig({
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "../catchment/console/static",
    emptyOutDir: true,
    target: "es2022",
    // Browsers that know light-dark() and <dialog>.
    cssTarget: ["chrome123", "firefox121", "safari17.5"],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
