import type { FieldState } from '../../parts/form/use-form.ts';
import { Icon } from '../../parts/icon.tsx';
import { type DimensionText, MAX_DIMENSIONS, NEW_DIMENSION } from './classifier-form.ts';

interface Props {
  readonly field: FieldState<readonly DimensionText[]>;
  readonly isDisabled: boolean;
}

/** What is asked of each generation, with all answers that there are. */
export function DimensionsEditor({ field, isDisabled }: Props) {
  const { id, value: dimensions, onValue, onLeave, problem } = field;
  return (
    <fieldset
      class="f-row"
      id={id}
      disabled={isDisabled}
      aria-invalid={problem !== undefined}
      aria-describedby={`${id}-note`}
      onFocusOut={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget as Node | null)) onLeave();
      }}
    >
      <legend>What is asked</legend>
      {dimensions.map((dimension, index) => (
        <DimensionRows
          key={index}
          title={dimensions.length === 1 ? 'Question' : `Question ${index + 1}`}
          dimension={dimension}
          onDimension={(next) => onValue(dimensions.with(index, next))}
          onRemove={dimensions.length === 1 ? undefined : () => onValue(dimensions.toSpliced(index, 1))}
        />
      ))}
      {dimensions.length < MAX_DIMENSIONS && (
        <div class="r">
          <button class="b" type="button" onClick={() => onValue([...dimensions, NEW_DIMENSION])}>
            <Icon name="plus" size={14} />
            Another question
          </button>
        </div>
      )}
      <p class={problem === undefined ? 'hint' : 'err'} id={`${id}-note`}>
        {problem ?? 'One answer a line. What follows a colon says when it fits; the model reads it.'}
      </p>
    </fieldset>
  );
}

interface RowsProps {
  readonly title: string;
  readonly dimension: DimensionText;
  readonly onDimension: (dimension: DimensionText) => void;
  /** Undefined = it must stay. */
  readonly onRemove: (() => void) | undefined;
}

function DimensionRows({ title, dimension, onDimension, onRemove }: RowsProps) {
  return (
    <fieldset class="stack rules" aria-label={title}>
      <div class="r">
        <input
          class="in-t mono"
          aria-label="Name of the dimension"
          placeholder="topic"
          maxLength={64}
          value={dimension.name}
          onInput={({ currentTarget }) => onDimension({ ...dimension, name: currentTarget.value })}
        />
        <input
          class="in-t"
          aria-label="What is asked"
          placeholder="What the request is about"
          value={dimension.description}
          onInput={({ currentTarget }) => onDimension({ ...dimension, description: currentTarget.value })}
        />
        {onRemove !== undefined && (
          <button
            class="b icon"
            type="button"
            aria-label={`Remove ${title.toLowerCase()}`}
            onClick={onRemove}
          >
            <Icon name="cross" size={12} />
          </button>
        )}
      </div>
      <textarea
        class="in-t"
        aria-label="Answers"
        rows={3}
        placeholder={'billing: invoices, prices and refunds\nother'}
        spellcheck={false}
        value={dimension.values}
        onInput={({ currentTarget }) => onDimension({ ...dimension, values: currentTarget.value })}
      />
    </fieldset>
  );
}
