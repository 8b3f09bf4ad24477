import { describe, expect, it } from 'vitest';
import { EMPTY_ANSWER } from './answer.ts';
import { userTurn } from './conversation.ts';
import { type Entry, newRun, type Run, turnsOf } from './pane-state.ts';

const said = (text: string): Entry => ({ kind: 'turn', turn: userTurn(text) });
const ran = (state: Run['state'], text = ''): Entry => ({
  kind: 'run',
  run: { ...newRun(1, 'chat'), state, answer: { ...EMPTY_ANSWER, text } },
});

describe('turnsOf', () => {
  it('leaves a message out whose request failed without an answer', () => {
    const entries = [said('one'), ran('done', 'first'), said('two'), ran('failed'), said('three')];
    expect(turnsOf(entries).map(({ text }) => text)).toEqual(['one', 'first', 'three']);
  });

  it('keeps a message whose answer broke off or was stopped', () => {
    const entries = [said('one'), ran('failed', 'half'), said('two'), ran('stopped')];
    expect(turnsOf(entries).map(({ text }) => text)).toEqual(['one', 'half', 'two']);
  });
});
