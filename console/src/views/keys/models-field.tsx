import { modelOptions, useAllModels } from '../../api/models.ts';
import { NamesField } from '../../parts/form/names-field.tsx';
import type { FieldState } from '../../parts/form/use-form.ts';

/** The models that a key may use. */
export function ModelsField({ field }: { readonly field: FieldState<readonly string[]> }) {
  return (
    <NamesField
      field={field}
      label="Allowed models"
      hint={field.value.length === 0 ? 'Every model that guardrails allow.' : undefined}
      none="All models"
      add="Add a model"
      options={modelOptions(useAllModels())}
    />
  );
}
