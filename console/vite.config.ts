import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  publicDir: false,
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    // Browsers since 2024: light-dark(), container queries, popovers.
    target: ['chrome123', 'firefox128', 'safari17.5'],
    // A picture inside a style or script would need `data:` in more rules of the policy than it saves bytes.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
    // On a slow machine the first start would print what took the build so long.
    rolldownOptions: { checks: { bundlerTimings: false } },
  },
});
