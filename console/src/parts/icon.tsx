/** Drawings on a grid of 16, as paths. */
const PATHS = {
  overview: 'M2.5 13.5v-5M6.2 13.5v-9M9.8 13.5v-6.5M13.5 13.5v-11',
  log: 'M2.5 4h11M2.5 8h11M2.5 12h7',
  conversations: 'M2.5 2.5h8v5.5H6L4 10V8H2.5zM12 5.5h1.5V11H12v2l-2-2H7.5v-1',
  playground: 'M3 3.5h10v7H7.5L4.5 13v-2.5H3z',
  analytics: 'M2.5 2.5v11h11M5 10l2.5-3.5L10 8.5l3.5-5',
  models: 'M8 2l5.5 3v6L8 14l-5.5-3V5zM2.5 5L8 8l5.5-3M8 8v6',
  providers: 'M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.01M5 11h.01',
  presets: 'M2.5 5h6M12.5 5h1M2.5 11h1M7.5 11h6M10.5 3.5v3M5.5 9.5v3',
  keys: 'M9.5 9a3.5 3.5 0 1 0-3-3L2.5 10.2V13h2.8v-1.7h1.6V9.7L9.5 9zM10.6 5.4h.01',
  workspaces: 'M2.5 3.5h4.5v4H2.5zM9 3.5h4.5v4H9zM2.5 9.5H7v4H2.5zM9 9.5h4.5v4H9z',
  members:
    'M6 7.5a2.3 2.3 0 1 0 0-4.6 2.3 2.3 0 0 0 0 4.6zM2 13.2c0-2.3 1.8-3.8 4-3.8s4 1.5 4 3.8M10.4 3.2a2.1 2.1 0 0 1 0 4M11.6 9.6c1.5.4 2.4 1.7 2.4 3.6',
  credentials: 'M4 7V5.2a4 4 0 0 1 8 0V7M3 7h10v6.5H3zM8 9.6v1.6',
  guardrails: 'M8 2l5 2v4c0 3-2.1 5-5 6-2.9-1-5-3-5-6V4zM5.8 8l1.6 1.6L10.4 6.5',
  files: 'M4 2h5l3 3v9H4zM9 2v3h3',
  apps: 'M3 3h4v4H3zM9.5 3.2L13 6.7M13 3.2L9.5 6.7M3 9.5h4v4H3zM11.2 13.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4z',
  configuration:
    'M8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM8 2v1.6M8 12.4V14M2 8h1.6M12.4 8H14M3.8 3.8l1.1 1.1M11.1 11.1l1.1 1.1M3.8 12.2l1.1-1.1M11.1 4.9l1.1-1.1',
  start: 'M3 13V3M3 3.5h8l-1.5 2.5L11 8.5H3',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.4 10.4l3.1 3.1',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.8V8l2.2 1.6',
  compare: 'M3 5.5h10l-2.5-2.5M13 10.5H3l2.5 2.5',
  down: 'M4.5 6.5L8 10l3.5-3.5',
  up: 'M4.5 9.5L8 6l3.5 3.5',
  left: 'M9.5 4.5L6 8l3.5 3.5',
  right: 'M6.5 4.5L10 8l-3.5 3.5',
  both: 'M5 6.5L8 3.5l3 3M5 9.5l3 3 3-3',
  plus: 'M8 3v10M3 8h10',
  cross: 'M4 4l8 8M12 4l-8 8',
  check: 'M3.5 8.5l3 3 6-7',
  copy: 'M6 6V3h7v7h-3M3 6h7v7H3z',
  warning: 'M8 2.5l6 10.8H2zM8 6.5v3M8 11.4h.01',
  equal: 'M3.5 6h9M3.5 10h9',
  download: 'M8 2.5v7.5M5 7l3 3 3-3M3 13h10',
  upload: 'M8 10V2.5M5 5.5l3-3 3 3M3 13h10',
  link: 'M6.5 9.5l3-3M7 5l1.2-1.2a2.6 2.6 0 0 1 3.8 3.7L10.7 9M9 11l-1.2 1.2A2.6 2.6 0 0 1 4 8.5L5.3 7',
  outside: 'M9 3h4v4M13 3L7.5 8.5M11 9v4H3V5h4',
  columns: 'M2.5 3h11v10h-11zM6.2 3v10M9.8 3v10',
  edit: 'M3 13l.7-3L10.5 3.2l2.3 2.3L6 12.3z',
  trash: 'M3 4.5h10M6 4.5V3h4v1.5M4.5 4.5l.5 9h6l.5-9',
  refresh: 'M13 8a5 5 0 1 1-1.5-3.5M13 2.5v3h-3',
  play: 'M5 3l8 5-8 5z',
  stop: 'M4 4h8v8H4z',
  label: 'M2.5 2.5h5.5l5.5 5.5-5.5 5.5-5.5-5.5zM5.3 5.3h.01',
  tool: 'M9.5 6.5l-6 6M10 2.8a3 3 0 0 0-1.2 4.4 3 3 0 0 0 4.4-1.2l-1.8.4-1.4-1.4z',
} as const;

export type IconName = keyof typeof PATHS;

/** A drawing beside a word that says the same; hidden from screen readers. */
export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}

/** The mark of the product: a line that branches, and its signal. */
export function BrandMark() {
  return (
    <svg width="20" height="20" viewBox="0 0 20 20" fill="none" aria-hidden="true">
      <path
        d="M2 14.5h16M4 14.5h2.5c3 0 4-8.5 7.5-8.5H18"
        stroke="currentColor"
        stroke-width="2"
        stroke-linecap="round"
      />
      <circle cx="4.2" cy="5" r="2.2" fill="currentColor" />
    </svg>
  );
}
