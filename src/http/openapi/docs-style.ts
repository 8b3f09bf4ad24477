/** Style of the page: colours, type and spacing are those of the console. */
export const DOCS_STYLE = `
:root {
  color-scheme: light dark;
  --surface: light-dark(#ffffff, #131619); --nav: light-dark(#f6f7f8, #0d0f11); --sunken: light-dark(#f3f5f6, #0f1114);
  --line: light-dark(#e4e7ea, #252a30); --line-2: light-dark(#ced3d9, #39414a); --control: light-dark(#848c97, #6e7783);
  --text: light-dark(#14181d, #e7eaed); --text-2: light-dark(#474f59, #b1b8c1); --text-3: light-dark(#5f6873, #8f98a3);
  --accent: light-dark(#1a5cbd, #84b4ff); --accent-bg: light-dark(#e7effb, #16263e);
  --ok: light-dark(#11693c, #62c68c); --warn: light-dark(#825000, #e2ac55); --bad: light-dark(#b0261c, #ff8f85);
  --sans: -apple-system, BlinkMacSystemFont, "Segoe UI Variable Text", "Segoe UI", Inter, Roboto, "Noto Sans", Ubuntu,
    Cantarell, "Liberation Sans", Arial, sans-serif;
  --mono: ui-monospace, "SF Mono", SFMono-Regular, "Cascadia Mono", "JetBrains Mono", "Roboto Mono", Menlo, Consolas,
    "Liberation Mono", "DejaVu Sans Mono", monospace;
}
[data-theme="light"] { color-scheme: light; } [data-theme="dark"] { color-scheme: dark; }
*, ::before, ::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-padding-top: 16px; }
body { margin: 0; background: var(--surface); color: var(--text); font: 400 .875rem/1.5 var(--sans);
  font-variant-numeric: tabular-nums; display: grid; grid-template-columns: 272px minmax(0, 1fr); }
[hidden] { display: none !important; }
a { color: var(--accent); text-decoration: none; } a:hover, main a { text-decoration: underline; text-underline-offset: 2px; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; border-radius: 4px; }
code, pre { font-family: var(--mono); font-size: .8125rem; font-variant-ligatures: none; overflow-wrap: anywhere; }
h1, h2, h3, h4, p { margin: 0; }
h1 { font-size: 1.375rem; font-weight: 600; letter-spacing: -.015em; line-height: 1.3; }
h2 { font-size: 1.1875rem; font-weight: 600; } h3 { font-size: .9375rem; font-weight: 600; }
h4 { font-size: .75rem; font-weight: 600; color: var(--text-2); margin: 12px 0 4px; }
.nav { background: var(--nav); border-right: 1px solid var(--line); padding: 12px; position: sticky; top: 0;
  height: 100vh; overflow-y: auto; }
.nav > details > summary { display: none; }
.brand { display: flex; align-items: baseline; gap: 8px; padding: 4px 8px 12px; font-weight: 650; }
.brand span { color: var(--text-3); font-weight: 400; font-size: .75rem; }
#theme { margin-left: auto; font-weight: 400; white-space: nowrap; } button { font: inherit; font-size: .75rem; color: var(--text-2); background: var(--surface);
  border: 1px solid var(--line-2); border-radius: 6px; padding: 2px 8px; cursor: pointer; }
#search { width: 100%; height: 32px; padding: 0 8px; font: inherit; color: var(--text); background: var(--surface);
  border: 1px solid var(--control); border-radius: 6px; }
#found { min-height: 20px; padding: 2px 8px; font-size: .75rem; color: var(--text-3); }
nav h2 { font-size: .6875rem; font-weight: 500; color: var(--text-3); padding: 8px 8px 2px; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li a { display: flex; gap: 8px; align-items: baseline; padding: 4px 8px; border-radius: 4px; color: var(--text-2);
  font-size: .8125rem; line-height: 1.3; overflow-wrap: anywhere; }
nav li a:hover { background: var(--line); color: var(--text); text-decoration: none; }
.method { font-family: var(--mono); font-size: .6875rem; font-weight: 600; flex: none; min-width: 44px; color: var(--accent); }
.method.POST { color: var(--ok); } .method.PUT, .method.PATCH { color: var(--warn); } .method.DELETE { color: var(--bad); }
main { padding: 24px 32px 64px; max-width: 1240px; min-width: 0; }
.lead { color: var(--text-2); max-width: 46rem; margin: 6px 0 12px; }
main > section { margin-top: 40px; }
.operation, .schema { border-top: 1px solid var(--line); padding: 20px 0; }
.operation > header { display: flex; gap: 8px; align-items: baseline; flex-wrap: wrap; }
.path { font-size: .8125rem; color: var(--text-2); } .columns { display: grid; gap: 8px 32px;
  grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); margin-top: 8px; }
.two { display: grid; gap: 8px 24px; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); margin-bottom: 16px; }
.note { color: var(--text-3); } .required { color: var(--bad); }
.statuses { display: flex; flex-wrap: wrap; gap: 4px; } .statuses a, .statuses span { text-decoration: none; font-family: var(--mono);
  font-size: .75rem; padding: 1px 6px; border: 1px solid var(--line-2); border-radius: 4px; color: var(--text-2); }
.statuses span { color: var(--ok); }
pre { position: relative; margin: 0; padding: 10px 12px; background: var(--sunken); border: 1px solid var(--line);
  border-radius: 6px; overflow: auto; max-height: 26rem; white-space: pre-wrap; }
pre.sample button { float: right; margin: -4px -6px 0 8px; line-height: 1.2; }
.languages { display: flex; gap: 4px; align-items: center; border: 0; margin: 12px 0 0; padding: 0; flex-wrap: wrap; }
.languages legend { float: left; padding: 0 8px 0 0; font-size: .75rem; color: var(--text-3); }
.languages input { position: absolute; opacity: 0; } .languages label { font-size: .75rem; padding: 3px 10px;
  border: 1px solid var(--line-2); border-radius: 6px; color: var(--text-2); cursor: pointer; }
.languages input:checked + label { background: var(--accent-bg); border-color: var(--accent); color: var(--accent); }
.languages input:focus-visible + label { outline: 2px solid var(--accent); outline-offset: 1px; }
body:has(#lang-curl:checked) pre.sample:is(.JavaScript, .Python),
body:has(#lang-JavaScript:checked) pre.sample:is(.curl, .Python),
body:has(#lang-Python:checked) pre.sample:is(.curl, .JavaScript) { display: none; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .8125rem; }
th { text-align: left; font-weight: 500; font-size: .6875rem; color: var(--text-3); }
td, th { border-top: 1px solid var(--line); padding: 5px 12px 5px 0; vertical-align: top; }
tr.inner > td { border-top: 0; padding: 0 0 4px; } tr:target td { background: var(--accent-bg); } td code { overflow-wrap: normal; }
details { margin: 6px 0; } summary { cursor: pointer; color: var(--text-2); font-size: .8125rem; }
td > details > .wide, details details > .wide { border-left: 2px solid var(--line); padding-left: 10px; }
@media (max-width: 1180px) { .columns { grid-template-columns: minmax(0, 1fr); } }
@media (max-width: 900px) {
  body { display: block; } html { scroll-padding-top: 88px; }
  .nav { position: sticky; z-index: 2; height: auto; max-height: 100vh; border-right: 0; border-bottom: 1px solid var(--line);
    padding: 8px 16px; }
  .nav > details > summary { display: block; padding: 8px 0; } .brand { padding: 4px 0; } .nav > details { margin: 0; }
  nav li a { padding: 9px 8px; } main { padding: 16px 16px 48px; }
  main tr { display: block; border-top: 1px solid var(--line); padding: 6px 0; } main tr.inner { border: 0; padding: 0; } main tr:has(th) { display: none; }
  main td { display: block; border: 0; padding: 1px 0; }
  #errors td:last-child::before { content: "Try again: "; color: var(--text-3); }
}
`;
