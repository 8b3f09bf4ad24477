import type { ProviderTestObject } from '../../api/contract.ts';
import { count, counted } from '../../format/numbers.ts';
import { duration } from '../../format/times.ts';
import { Icon } from '../../parts/icon.tsx';

/** What came back from a provider that was tested. */
export function TestResult({ test }: { readonly test: ProviderTestObject }) {
  const { passed, is_testable: isTestable, is_key_proven: isProven, status, message } = test;
  const isDoubtful = !isTestable || isProven === false;
  return (
    <div class={`note ${isDoubtful ? 'warn' : passed ? 'ok' : 'bad'}`} role="status">
      <Icon name={passed && !isDoubtful ? 'check' : 'warning'} size={14} />
      <span>
        <b>{status === null ? (isTestable ? 'No answer' : 'Not asked') : `Status ${status}`}</b>
        {status !== null && `, ${duration(test.milliseconds)}`}: {message ?? listText(test)}.
        {isProven === false && ' It lists them without a key too, so this does not prove the key.'}
      </span>
    </div>
  );
}

/** How many models it lists, and how many of them can be chosen. */
function listText({ models, listed_models: listed, is_list_cut: isCut }: ProviderTestObject): string {
  const text = `lists ${isCut ? 'more than ' : ''}${counted(listed ?? 0, 'model')}`;
  return isCut || (listed ?? 0) > models.length
    ? `${text}, of which these are the first ${count(models.length)}`
    : text;
}
