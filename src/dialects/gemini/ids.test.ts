import { describe, expect, it } from 'vitest';
import { callIdOf, ownId } from './ids.ts';

describe('ids of calls', () => {
  it.each(['fc-1', 'a.b', 'x/y', 'ä b', 'i'.repeat(57), 'i'.repeat(80), 'gemini_', 'gemini64_YQ', '64_YQ'])(
    'come back as the upstream gave them: %s',
    (id) => {
      const callId = callIdOf(id) ?? '';
      expect(callId).toMatch(/^[a-zA-Z0-9_-]+$/);
      expect(ownId(callId)).toEqual({ id });
    },
  );

  it('are the plain ones with a mark', () => {
    expect(callIdOf('fc-1')).toBe('gemini_fc-1');
  });

  it.each([undefined, '', 'i'.repeat(257)])('are none: %s', (id) => {
    expect(callIdOf(id)).toBeUndefined();
  });

  it.each(['gemini_', 'gemini64_', 'gemini64_YQ', 'gemini64_a.b', 'call_1', 'toolu_gemini_1'])(
    'of callers are not sent: %s',
    (callId) => {
      expect(ownId(callId)).toEqual({});
    },
  );
});
