/** The header in which callers request betas of the messages format, and in which upstreams of that format get them. */
export const BETA_HEADER = 'anthropic-beta';

/** The header that names the version of the messages format. */
export const VERSION_HEADER = 'anthropic-version';

/** True if a list of betas has one of this kind, whatever its date. */
export function asksBeta(betas: string | undefined, kind: string): boolean {
  return betas?.split(',').some((name) => name.startsWith(`${kind}-`)) === true;
}

/** Betas by which thoughts between calls of tools may take more than the output limit. */
export const INTERLEAVED_THINKING = 'interleaved-thinking';

/** The member of a body in which upstreams of other dialects get them. */
export const BETA_MEMBER = 'anthropic_beta';
