import { useMutation } from '@tanstack/preact-query';
import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from '../../api/request.ts';
import { showFirstProblem } from './first-problem.ts';
import { refusedMembersOf, sentence } from './issues.ts';

/** Problems by the name of their field. */
export type Problems<Values> = Partial<Record<keyof Values & string, string>>;

/** What a field needs of its form. */
export interface FieldState<Value> {
  readonly id: string;
  readonly value: Value;
  readonly onValue: (value: Value) => void;
  readonly onLeave: () => void;
  /** What is wrong with the value; undefined = nothing, or not yet checked. */
  readonly problem: string | undefined;
}

/** The state of a form. Fields have the names of the members that the interface calls them by. */
export interface Form<Values> {
  /** Put it on the element that holds the fields: the first wrong one gets the focus. */
  readonly element: RefObject<HTMLFormElement>;
  readonly values: Values;
  readonly field: <Name extends keyof Values & string>(name: Name) => FieldState<Values[Name]>;
  readonly submit: (event?: Event) => void;
  /** A refusal that belongs to no field; null = none. */
  readonly error: unknown;
  readonly isBusy: boolean;
}

interface Options<Values> {
  readonly initial: Values;
  /** Problems that can be found here. A field's is shown once the reader has left the field. */
  readonly check?: (values: Values) => Problems<Values>;
  /** Called if there is no problem. Issues of a refusal are shown at the fields of the same name. */
  readonly save: (values: Values) => Promise<void>;
}

let lastForm = 0;

export function useForm<Values extends object>({ initial, check, save }: Options<Values>): Form<Values> {
  const element = useRef<HTMLFormElement>(null);
  const [number] = useState(() => ++lastForm);
  const [values, setValues] = useState(initial);
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const [refused, setRefused] = useState<Problems<Values>>({});
  const [isFocusDue, setFocusDue] = useState(false);
  const found: Problems<Values> = check?.(values) ?? {};
  const saving = useMutation({
    mutationFn: save,
    onError: (error) => {
      const issues = issuesByField(error, values);
      setRefused(issues);
      setFocusDue(Object.keys(issues).length > 0);
    },
  });
  useEffect(() => {
    if (!isFocusDue) return;
    setFocusDue(false);
    showFirstProblem(element.current);
  }, [isFocusDue]);
  const isRefusalShown = Object.keys(refused).length > 0;
  return {
    element,
    values,
    field: (name) => ({
      id: `form-${number}-${name}`,
      value: values[name],
      onValue: (value) => {
        setValues((before) => ({ ...before, [name]: value }));
        setRefused(({ [name]: _, ...others }) => others as Problems<Values>);
      },
      onLeave: () => setLeft((before) => new Set(before).add(name)),
      problem: (left.has(name) ? found[name] : undefined) ?? refused[name],
    }),
    submit: (event) => {
      event?.preventDefault();
      if (saving.isPending) return;
      setLeft(new Set(Object.keys(values)));
      if (Object.keys(found).length > 0) return setFocusDue(true);
      setRefused({});
      saving.mutate(values);
    },
    error: saving.isError && !isRefusalShown && isOpen(saving.error, values) ? saving.error : null,
    isBusy: saving.isPending,
  };
}

/** False if the refusal was about fields, which the reader has changed since, or about a session that has ended. */
function isOpen(error: unknown, values: object): boolean {
  const isSessionEnd = error instanceof ApiError && error.status === 401;
  return !isSessionEnd && Object.keys(issuesByField(error, values)).length === 0;
}

/** The issues of a refusal at the fields that they name; those that name none make an error of the whole form. */
function issuesByField<Values extends object>(error: unknown, values: Values): Problems<Values> {
  const known = refusedMembersOf(error).map(({ path, message }) => [fieldOf(path, values), message] as const);
  if (known.some(([name]) => !(name in values))) return {};
  return Object.fromEntries(known.map(([name, message]) => [name, sentence(message)])) as Problems<Values>;
}

/** The field of a path: a member inside of another may have a field of its own. */
function fieldOf(path: string, values: object): string {
  const [member = ''] = path.split('[');
  return member in values ? member : (member.split('.')[0] ?? '');
}
