import type { AnalyticsQuery } from '../../contract/analytics/analytics.ts';
import type { Issue } from '../../kit/json/validate.ts';
import type { TagFilter, TagPlace, TagQuery } from '../../ports/events/events.ts';
import { TAG_PLACES } from '../../ports/events/events.ts';
import type { Classifier } from '../../ports/following/classifiers.ts';
import { kindProblem } from './parse-filters.ts';

export const CLASSIFIER_MEMBERS = ['classifier_dimensions', 'classifier_filters'] as const;

/** What was found under the ids of classifiers in a query. */
export type FoundClassifier = (id: string) => Classifier | undefined;

/** The columns of rows by tags without names of dimensions: that of the dimension, and its value. */
const PAIR_COLUMNS = ['clf_dimension_name', 'clf_dimension_value'] as const;

type ClassifierMembers = Pick<AnalyticsQuery, (typeof CLASSIFIER_MEMBERS)[number]>;

/** The ids of classifiers in a query, each once. */
export function classifierIdsOf(wanted: ClassifierMembers): readonly string[] {
  return [...new Set(CLASSIFIER_MEMBERS.flatMap((member) => idOf(wanted[member]) ?? []))];
}

function idOf(member: { readonly classifier_id: string } | undefined): string | undefined {
  return member?.classifier_id.toLowerCase();
}

/** Names of the columns that a grouping by tags adds to rows. */
export function tagColumns({ classifier_dimensions: grouping }: ClassifierMembers): readonly string[] {
  if (grouping === undefined) return [];
  return namesOf(grouping) ?? PAIR_COLUMNS;
}

/** An empty list is none. */
function namesOf({
  dimension_names: names = [],
}: NonNullable<AnalyticsQuery['classifier_dimensions']>): readonly string[] | null {
  return names.length === 0 ? null : names;
}

/** The place of a column among those of tags; undefined = it is none of them. */
export function tagPlaceOf(wanted: ClassifierMembers, field: string): TagPlace | undefined {
  return TAG_PLACES[tagColumns(wanted).indexOf(field)];
}

export function tagIssues(wanted: ClassifierMembers): Issue[] {
  return [...differentIds(wanted), ...kindIssues(wanted.classifier_filters)];
}

/** Problems of the classifiers that a query names. */
export function classifierIssues(wanted: ClassifierMembers, found: FoundClassifier): Issue[] {
  return CLASSIFIER_MEMBERS.flatMap((member) => {
    const id = idOf(wanted[member]);
    if (id === undefined) return [];
    const classifier = found(id);
    const message = problemOf(classifier);
    return [
      ...(message === undefined ? [] : [{ path: `${member}.classifier_id`, message }]),
      ...(classifier === undefined ? [] : NAME_ISSUES[member](wanted, namedBy(classifier))),
    ];
  });
}

/** What a query groups and filters by of a classifier; undefined = nothing. */
export function tagQueryOf(wanted: ClassifierMembers): TagQuery | undefined {
  const { classifier_dimensions: grouping, classifier_filters: filtering } = wanted;
  const classifierId = idOf(grouping ?? filtering);
  if (classifierId === undefined) return undefined;
  return {
    classifierId,
    grouping:
      grouping === undefined
        ? null
        : { names: namesOf(grouping), includesUntagged: grouping.include_nulls ?? false },
    filters: (filtering?.filters ?? []).map(tagFilter),
  };
}

function differentIds({ classifier_dimensions, classifier_filters }: ClassifierMembers): Issue[] {
  const ids = [idOf(classifier_dimensions), idOf(classifier_filters)];
  if (ids.includes(undefined) || ids[0] === ids[1]) return [];
  const message = 'must be the same as classifier_dimensions.classifier_id';
  return [{ path: 'classifier_filters.classifier_id', message }];
}

function problemOf(classifier: Classifier | undefined): string | undefined {
  if (classifier === undefined) return 'Classifier not found';
  return classifier.isActive ? undefined : 'Classifier is not active';
}

type Filtering = AnalyticsQuery['classifier_filters'];

function kindIssues(filtering: Filtering): Issue[] {
  return (filtering?.filters ?? []).flatMap(({ operator, value }, index) => {
    const message = kindProblem(operator, value);
    return message === undefined ? [] : [{ path: `classifier_filters.filters[${index}].value`, message }];
  });
}

/** The problem of a name that is none of a classifier's dimensions. */
type NameProblem = (name: string) => string | undefined;

function namedBy({ dimensions }: Classifier): NameProblem {
  const names = dimensions.map(({ name }) => name);
  return (name) =>
    names.includes(name) ? undefined : `must be a dimension of the classifier: ${names.join(', ')}`;
}

const NAME_ISSUES: Readonly<
  Record<
    (typeof CLASSIFIER_MEMBERS)[number],
    (wanted: ClassifierMembers, problemOfName: NameProblem) => Issue[]
  >
> = {
  classifier_dimensions: ({ classifier_dimensions: grouping }, problemOfName) => {
    const names = grouping?.dimension_names ?? [];
    return names.flatMap((name, index) => {
      const message = names.indexOf(name) < index ? `${name} is there already` : problemOfName(name);
      return message === undefined
        ? []
        : [{ path: `classifier_dimensions.dimension_names[${index}]`, message }];
    });
  },
  classifier_filters: ({ classifier_filters: filtering }, problemOfName) =>
    (filtering?.filters ?? []).flatMap(({ field }, index) => {
      const message = problemOfName(field);
      return message === undefined ? [] : [{ path: `classifier_filters.filters[${index}].field`, message }];
    }),
};

function tagFilter({ field, operator, value }: NonNullable<Filtering>['filters'][number]): TagFilter {
  const values = Array.isArray(value) ? value : [value];
  return {
    dimension: field,
    operator: operator === 'eq' || operator === 'in' ? 'in' : 'not_in',
    values: values.map(String),
  };
}
