import { useQueryClient } from '@tanstack/preact-query';
import type { ClassifierObject, WorkspaceObject } from '../../api/contract.ts';
import { useModels } from '../../api/models.ts';
import { send } from '../../api/request.ts';
import { sumMoney } from '../../format/money.ts';
import { counted } from '../../format/numbers.ts';
import { MoneyField, SelectField, TextField } from '../../parts/form/fields.tsx';
import { FormDialog } from '../../parts/form/form-dialog.tsx';
import { useForm } from '../../parts/form/use-form.ts';
import { toast } from '../../parts/toast.tsx';
import {
  type ClassifierValues,
  classifierProblems,
  classifierValues,
  createBody,
  updateBody,
} from './classifier-form.ts';
import { ClassifierRuns } from './classifier-runs.tsx';
import { ClassifierTrial } from './classifier-trial.tsx';
import { DimensionsEditor } from './dimensions-editor.tsx';

interface Props {
  /** Null = a new one. */
  readonly classifier: ClassifierObject | null;
  readonly workspaces: readonly WorkspaceObject[];
  readonly workspaceId: string;
  readonly onClose: () => void;
}

/** Makes a classifier, or changes one. */
export function EditClassifier({ classifier, workspaces, workspaceId, onClose }: Props) {
  const queries = useQueryClient();
  const models = useModels();
  const isDeclared = classifier?.managed_by === 'file';
  const form = useForm<ClassifierValues>({
    initial: classifierValues(classifier, workspaceId),
    check: classifierProblems,
    save: async (values) => {
      if (classifier === null) {
        await send('/classifiers', { method: 'POST', body: createBody(values) });
        toast(`${values.name.trim()} classifies from now on.`);
      } else {
        const body = updateBody(values, classifier);
        if (Object.keys(body).length > 0) {
          await send(`/classifiers/${classifier.id}`, { method: 'PATCH', body });
          toast(`${values.name.trim()} was changed.`);
        }
      }
      await queries.invalidateQueries({ queryKey: ['classifiers'] });
      onClose();
    },
  });
  const { values } = form;
  return (
    <FormDialog
      title={classifier === null ? 'Add a classifier' : classifier.name}
      action={classifier === null ? 'Add classifier' : 'Save changes'}
      form={form}
      means={meansOf(values, classifier)}
      call={
        classifier === null
          ? { method: 'POST', path: '/classifiers', body: createBody(values) }
          : { method: 'PATCH', path: `/classifiers/${classifier.id}`, body: updateBody(values, classifier) }
      }
      isReadOnly={isDeclared}
      onClose={onClose}
    >
      <div class="f-row g2">
        <TextField field={form.field('name')} label="Name" maxLength={255} disabled={isDeclared} />
        <SelectField
          field={form.field('workspace_id')}
          label="Workspace"
          options={workspaces.map(({ id, name }) => [id, name] as const)}
          disabled={classifier !== null}
        />
      </div>
      <TextField
        field={form.field('model')}
        label="Model"
        isMono
        disabled={isDeclared}
        suggestions={models.map(({ id }) => [id, id] as const)}
        hint="It reads prompts and answers: a small and cheap one is enough."
      />
      <TextField
        field={form.field('description')}
        label="What it is for"
        lines={2}
        disabled={isDeclared}
        hint="The model reads it too."
      />
      <DimensionsEditor field={form.field('dimensions')} isDisabled={isDeclared} />
      <div class="f-row g2">
        <TextField
          field={form.field('sampling_rate')}
          label="Share of sessions, per cent"
          disabled={isDeclared}
        />
        <MoneyField
          field={form.field('monthly_budget_usd')}
          label="Most a month"
          placeholder="no limit"
          disabled={isDeclared}
        />
      </div>
      {classifier !== null && <ClassifierTrial id={classifier.id} />}
      {classifier !== null && <ClassifierRuns id={classifier.id} />}
    </FormDialog>
  );
}

function meansOf(values: ClassifierValues, classifier: ClassifierObject | null) {
  const percent = Number(values.sampling_rate);
  return [
    ...(classifier?.managed_by === 'file'
      ? [<>The configuration file of the gateway declares this classifier, so it is changed there.</>]
      : []),
    ...(classifier?.last_problem
      ? [
          <>
            <b>Tags were missing last</b> for <code>{classifier.last_problem.generation_id}</code>:{' '}
            {classifier.last_problem.message}
          </>,
        ]
      : []),
    <>
      After each answer, {values.model.trim() === '' ? 'a model' : <b>{values.model.trim()}</b>} reads prompt
      and answer of {percent < 100 ? `${percent} % of sessions` : 'every session'} and answers{' '}
      {counted(values.dimensions.length, 'question')}. No request waits for it.
    </>,
    <>
      What it costs is charged to the account, outside of the limits of keys
      {classifier === null ? '' : `: ${sumMoney(classifier.used_usd)} in this month`}.
    </>,
    <>
      Zero-retention requests, and workspaces that forbid the use of content, are never read. A workspace has
      at most one active classifier.
    </>,
  ];
}
