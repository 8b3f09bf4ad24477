import { useState } from 'preact/hooks';
import { Dialog } from '../../parts/dialog.tsx';
import { Icon } from '../../parts/icon.tsx';
import { EXAMPLE_TOOLS, readTools } from './settings.ts';

interface Props {
  readonly text: string;
  readonly onSave: (text: string) => void;
  readonly onClose: () => void;
}

/** The tools that the model may call, as a list of JSON. */
export function ToolsDialog({ text: given, onSave, onClose }: Props) {
  const [text, setText] = useState(given);
  const [problem, setProblem] = useState<string | null>(null);
  const save = (): void => {
    const read = readTools(text);
    if ('problem' in read) setProblem(read.problem);
    else onSave(text);
  };
  return (
    <Dialog
      title="Tools"
      onClose={onClose}
      foot={
        <>
          <button class="b lg" type="button" onClick={() => setText(JSON.stringify(EXAMPLE_TOOLS, null, 2))}>
            Insert an example
          </button>
          <button class="b lg pri" type="button" onClick={save}>
            Save tools
          </button>
        </>
      }
    >
      <div class="pad">
        <div class="f-row">
          <label for="tools">Functions that the model may call</label>
          <textarea
            class="in-t mono"
            id="tools"
            rows={14}
            spellcheck={false}
            aria-invalid={problem !== null}
            aria-describedby="tools-note"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          {problem === null ? (
            <p class="hint" id="tools-note">
              A list of objects with name, description and parameters, a JSON schema. You type the results. An
              empty text means no tools.
            </p>
          ) : (
            <p class="err" id="tools-note" role="alert">
              <Icon name="warning" size={14} />
              <span>{problem}</span>
            </p>
          )}
        </div>
      </div>
    </Dialog>
  );
}
