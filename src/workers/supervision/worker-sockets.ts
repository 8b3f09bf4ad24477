/** The file descriptors by which a worker reaches its owner: one for calls, one for requests that it forwards. */
export const CALLS_FD = 4;
export const FORWARDING_FD = 5;
