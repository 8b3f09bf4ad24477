import { readFileSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { answerQuestions } from '../kit/thread/answer-questions.ts';
import { createTokenCounter, openTokenTable } from './token-counter.ts';

const { table } = workerData as { readonly table: string };
const count = createTokenCounter(openTokenTable(readFileSync(table)));

answerQuestions({
  answer: (slices: readonly (readonly string[])[]) =>
    slices.map((texts) => texts.reduce((tokens, text) => tokens + count(text), 0)),
});
