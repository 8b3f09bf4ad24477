import { useAllModels } from '../../api/models.ts';
import { FieldRow } from '../../parts/form/fields.tsx';
import type { FieldState } from '../../parts/form/use-form.ts';
import { Icon } from '../../parts/icon.tsx';
import { Picker } from '../../parts/picker.tsx';

/** The models that a key may use, each with a button that removes it, and a list to choose more from. */
export function ModelsField({ field }: { readonly field: FieldState<readonly string[]> }) {
  const { id, value: chosen, onValue } = field;
  const options = useAllModels()
    .filter((model) => !chosen.includes(model.id))
    .map(({ id: model, name }) => ({ value: model, label: model, ...(name !== model && { detail: name }) }));
  return (
    <FieldRow
      field={field}
      label="Allowed models"
      hint={chosen.length === 0 ? 'Every model that guardrails allow.' : undefined}
    >
      <div class="r wrap">
        {chosen.map((model) => (
          <span class="chip" key={model}>
            <span class="v">
              <span class="cut">{model}</span>
            </span>
            <button
              type="button"
              aria-label={`Remove ${model}`}
              onClick={() => onValue(chosen.filter((each) => each !== model))}
            >
              <Icon name="cross" size={12} />
            </button>
          </span>
        ))}
        <Picker
          id={id}
          label="Allowed models"
          shown={chosen.length === 0 ? 'All models' : 'Add a model'}
          value=""
          options={options}
          onPick={(model) => onValue([...chosen, model])}
        />
      </div>
    </FieldRow>
  );
}
