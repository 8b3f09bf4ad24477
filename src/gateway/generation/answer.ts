import type { Admission } from '../admission/admission.ts';
import type { AnswerParts, AnswerState } from './answer-parts.ts';
import { OneLeg } from './one-leg.ts';
import { type SettledAnswer, settleAnswer } from './settle.ts';
import { SeveralLegs } from './several-legs.ts';
import type { Underway } from './underway.ts';

/** The answer to an admitted request as a lazy pipeline: attempts inside legs inside stages inside settlement. */
export function answerRequest(
  underway: Underway,
  admission: Admission,
  parts: AnswerParts,
  state: AnswerState,
): SettledAnswer {
  state.open.enter();
  const answering = underway.stages.runsLegs
    ? new SeveralLegs(underway, admission, parts, state)
    : new OneLeg(underway, admission, parts, state);
  return settleAnswer(answering.flow(), answering);
}
