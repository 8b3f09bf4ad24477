import { describe, expect, it } from 'vitest';
import { OutboundResponse, type ResponseConnection } from './outbound-response.ts';

/** A connection whose socket was reset and has not emitted close yet: it takes no writes. */
const DEAD_CONNECTION: ResponseConnection = {
  needsDrain: false,
  isTurnOf: () => true,
  write: () => false,
  cork() {},
  uncork() {},
  finish() {},
  finishAndLinger() {},
  destroy() {},
};

describe('a response on a connection that was lost', () => {
  it('is not gone before whenClosed is called', () => {
    const response = new OutboundResponse(DEAD_CONNECTION, true);
    const closed: boolean[] = [];
    response.whenClosed = (isFlushed) => closed.push(isFlushed);
    expect(response.write('a', 'latin1')).toBe(false);
    expect(response.isGone).toBe(false);
    response.close(false);
    expect(response.isGone).toBe(true);
    expect(closed).toEqual([false]);
  });

  it('is not gone if all of it was flushed', () => {
    const response = new OutboundResponse(DEAD_CONNECTION, true);
    response.close(true);
    expect(response.isGone).toBe(false);
  });
});
