/** The header in which callers request betas of the messages format, and in which upstreams of that format get them. */
export const BETA_HEADER = 'anthropic-beta';

/** The member of a body in which upstreams of other dialects get them. */
export const BETA_MEMBER = 'anthropic_beta';
