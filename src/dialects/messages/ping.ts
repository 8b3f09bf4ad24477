import { writeSseFrame } from '../../kit/frames/sse.ts';

/** The event that follows the first one of every stream, and keeps it alive from then on. */
export const PING = writeSseFrame('{"type":"ping"}', 'ping');
