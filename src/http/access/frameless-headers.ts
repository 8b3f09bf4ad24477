/** Headers of every page: no other page holds it in a frame, or a handle of its window. */
export const FRAMELESS_HEADERS = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'X-Frame-Options': 'DENY',
} as const;
