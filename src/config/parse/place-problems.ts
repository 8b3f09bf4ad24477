import type { FilePlace, Problem } from '../problem.ts';
import { markVariables } from './environment.ts';
import { ExcerptSource } from './excerpt.ts';
import { findPlaces, type PlaceQuery } from './read-yaml.ts';
import { segmentsOf } from './schema-at.ts';
import { findPlacesInThread } from './yaml-thread.ts';

/**
 * Adds to each problem its place in the text and the line there, in the order of the text. Parses the text once more:
 * only files with problems or warnings pay for it.
 */
export function placeProblems(problems: readonly Problem[], text: string): readonly Problem[] {
  const queries = queriesOf(problems);
  return placed(problems, text, queries.length === 0 ? [] : placesOf(text, queries));
}

function placesOf(text: string, queries: readonly PlaceQuery[]): (FilePlace | undefined)[] {
  try {
    return findPlaces(markVariables(text), queries);
  } catch (error) {
    // The text is nested too deep, which is a problem of its own.
    if (error instanceof RangeError) return [];
    throw error;
  }
}

/** A text of this length is parsed in a few milliseconds, less than a thread takes to start. */
const SHORT_TEXT_CHARACTERS = 16_384;

/** `placeProblems` with a long text parsed in another thread. */
export async function placeProblemsInThread(
  problems: readonly Problem[],
  text: string,
): Promise<readonly Problem[]> {
  if (text.length <= SHORT_TEXT_CHARACTERS) return placeProblems(problems, text);
  const queries = queriesOf(problems);
  return placed(
    problems,
    text,
    queries.length === 0 ? [] : await findPlacesInThread(markVariables(text), queries),
  );
}

function queriesOf(problems: readonly Problem[]): PlaceQuery[] {
  return problems
    .filter(isUnplaced)
    .map(({ path, isAtKey }) => ({ segments: segmentsOf(path), isAtKey: isAtKey === true }));
}

function isUnplaced({ place, path }: Problem): boolean {
  return place === undefined && path !== '';
}

function placed(
  problems: readonly Problem[],
  text: string,
  places: (FilePlace | undefined)[],
): readonly Problem[] {
  if (problems.length === 0) return problems;
  const source = new ExcerptSource(text);
  let next = 0;
  return problems
    .map((problem): Problem => {
      const place = isUnplaced(problem) ? places[next++] : problem.place;
      if (place === undefined) return problem;
      const excerpt = source.excerptAt(place);
      const firstExcerpt = problem.firstPlace && source.excerptAt(problem.firstPlace);
      return {
        ...problem,
        place,
        ...(excerpt !== undefined && { excerpt }),
        ...(firstExcerpt !== undefined && { firstExcerpt }),
      };
    })
    .sort((one, other) => orderOf(one) - orderOf(other));
}

/** Problems without a place come first: they are about the whole. The count of further ones comes last. */
function orderOf({ place, isAboutRest }: Problem): number {
  if (isAboutRest) return Number.POSITIVE_INFINITY;
  return place === undefined ? -1 : place.line * 1e6 + Math.min(place.column, 999_999);
}
