import { type MessagePort, parentPort } from 'node:worker_threads';
import type { FromThread, ToThread } from './messages.ts';

export interface ThreadProgram<Question, Answer> {
  /** The signal is present if the question can be interrupted. */
  answer(question: Question, signal?: AbortSignal): Answer | Promise<Answer>;
  /** Called once at the end, when all questions are answered. */
  close?(): void | Promise<void>;
}

/** Answers the questions of the `Thread` that started this one, each as soon as it comes. */
export function answerQuestions<Question, Answer>(program: ThreadProgram<Question, Answer>): void {
  const port = threadPort();
  const underway = new Set<Promise<void>>();
  const interruptible = new Map<number, AbortController>();
  const send = (reply: FromThread<Answer>) => port.postMessage(reply);

  const work = async (id: number, question: Question, signal: AbortSignal | undefined) => {
    try {
      send({ id, answer: await program.answer(question, signal) });
    } catch (error) {
      const { message = String(error), ...members } = error as Error;
      send({ id, failure: { message, members } });
    }
  };
  port.on('message', async (asked: ToThread<Question>) => {
    if (asked === null) {
      await Promise.all(underway);
      await program.close?.();
      port.close();
      return;
    }
    if ('interrupted' in asked) {
      interruptible.get(asked.interrupted)?.abort();
      return;
    }
    const { id, question, canBeInterrupted } = asked;
    const controller = canBeInterrupted ? new AbortController() : undefined;
    if (controller !== undefined) interruptible.set(id, controller);
    const working = work(id, question, controller?.signal);
    underway.add(working);
    await working;
    underway.delete(working);
    interruptible.delete(id);
  });
}

/** Tells the process that started this thread something it did not ask. */
export function notify(notice: unknown): void {
  threadPort().postMessage({ notice } satisfies FromThread<never>);
}

function threadPort(): MessagePort {
  if (parentPort === null) throw new Error('this program runs in a thread only');
  return parentPort;
}
