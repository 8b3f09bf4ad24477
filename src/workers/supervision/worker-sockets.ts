/** The file descriptors by which a worker reaches its owner, one for each direction. */
interface ChannelDescriptors {
  readonly toOwner: number;
  readonly toWorker: number;
}

export const CALLS: ChannelDescriptors = { toOwner: 4, toWorker: 5 };

/** For requests that a worker forwards. */
export const FORWARDING: ChannelDescriptors = { toOwner: 6, toWorker: 7 };
