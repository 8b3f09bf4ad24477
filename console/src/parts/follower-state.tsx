import type { ClassifierObject, DestinationObject } from '../api/contract.ts';
import { count, counted } from '../format/numbers.ts';
import { dateTime } from '../format/times.ts';

/** How far a destination or a classifier has come with the generations of its workspace. */
type State = DestinationObject['state'] | ClassifierObject['state'];

interface Shown {
  readonly isOn: boolean;
  readonly state: State;
}

/** The state in a few words; its figures are the title. */
export function FollowerState({ isOn, state }: Shown) {
  if (!isOn) return <span class="dim">off</span>;
  if (state === null) return <span class="dim">begins in a moment</span>;
  const { taken, dropped, waiting, problem, since } = state;
  const figures = `${count(taken)} taken, ${count(waiting)} waiting, ${count(dropped)} dropped`;
  if (problem === null) {
    return (
      <span title={figures}>
        {waiting === 0 ? 'up to date' : `${counted(waiting, 'generation')} waiting`}
      </span>
    );
  }
  const fault = since === null ? problem : `${problem} (since ${dateTime(Date.parse(since))})`;
  return (
    <span class="r" title={`${fault}; ${figures}`}>
      <span class="tag bad">failing</span>
      <span class="cut">{problem}</span>
    </span>
  );
}

/** Ascending: up to date, then by how many wait, then what fails. */
export function followerRank(state: State): number | null {
  if (state === null) return null;
  return state.problem === null ? state.waiting : Number.MAX_SAFE_INTEGER;
}
