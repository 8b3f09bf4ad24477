import type { ChooseCall } from '../../kit/fakes/agents/tool-loop.ts';
import type { WorkPlace } from './agent-loop.ts';
import { claudeCode, claudeEnvironment, claudeProgram } from './claude-code.ts';
import { codex, codexEnvironment, codexProgram, writeCodexSettings } from './codex.ts';
import { type RunningProgram, startProgram } from './running-program.ts';

/** How a turn ended. */
export interface TurnEnd {
  readonly status: 'completed' | 'interrupted' | 'failed';
  /** Its last text, or what is said of the failure. */
  readonly text: string;
}

/** A conversation with an agent. */
export interface Conversation {
  turn(prompt: string): Promise<TurnEnd>;
  close(): void;
}

/** A conversation with an agent that runs all the while. */
export interface Session extends Conversation {
  /** Ends the turn that runs. */
  interrupt(): void;
  /** Has the conversation so far summed up. */
  compact(): Promise<void>;
}

/** An agent that holds conversations of several turns. */
export interface ConversingAgent {
  readonly name: string;
  /** The package it comes in. */
  readonly package: string;
  /** The model that it is given. Agents decide by the name what they send. */
  readonly model: string;
  /** In what it asks the model for when it sums up, and nowhere else. */
  readonly summaryRequest: string;
  open(task: WorkPlace['task'], wish?: SessionWish): Promise<Conversation>;
}

/** An agent that holds sessions. */
export interface SessionAgent extends ConversingAgent {
  /** The model has a picture shown. */
  readonly look: (file: string) => ChooseCall;
  /** The model has a command run. */
  readonly run: (command: string) => ChooseCall;
  /** In every request: what the agent itself has to say. */
  readonly ownTurn: string;
  /** Who checks its calls in its auto mode; absent = it has none. */
  readonly checks?: {
    /** Has the upstream check them. */
    readonly field: string;
    /** The dialect whose upstreams do. */
    readonly native: string;
    /** What a model says that finds nothing against a call, when the agent checks it by a request of its own. */
    ownCheck(body: string): string | undefined;
  };
  open(task: WorkPlace['task'], wish?: SessionWish): Promise<Session>;
}

export interface SessionWish {
  /** To the end of the settings of Codex. */
  readonly settings?: string;
  /** Claude Code checks calls by requests of its own, and asks the provider for nothing. */
  readonly checksItself?: boolean;
}

function calling(name: string, given: Record<string, unknown>): ChooseCall {
  return (tools) => (tools.some((tool) => tool.name === name) ? { name, arguments: given } : undefined);
}

/** In auto mode, with the model's name by which it asks the provider to check calls. */
export const claudeSession: SessionAgent = {
  name: claudeCode.name,
  package: claudeCode.package,
  model: 'anthropic/claude-opus-5',
  look: (file) => calling('Read', { file_path: file }),
  run: (command) => calling('Bash', { command, description: 'As asked' }),
  summaryRequest: 'CRITICAL: Respond with TEXT ONLY',
  ownTurn: '<total_tokens>',
  checks: {
    field: 'safeguards',
    native: 'anthropic-messages',
    ownCheck(body) {
      if (!body.includes('</transcript>')) return undefined;
      return body.includes('</severity>') ? '<severity>0</severity>' : '<block>no</block>';
    },
  },
  async open(task, { checksItself = false } = {}) {
    const flags = ['--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'];
    const program = startProgram(claudeProgram(), ['-p', ...flags, '--permission-mode', 'auto'], {
      cwd: task.folder,
      env: { ...claudeEnvironment(task), ...(checksItself && { CLAUDE_CODE_AUTO_MODE_SERVER: '0' }) },
    });
    const turn = async (content: string): Promise<TurnEnd> => {
      const end = program.next(({ type }) => type === 'result');
      program.send({ type: 'user', message: { role: 'user', content }, parent_tool_use_id: null });
      const { is_error, subtype, result = '', errors = [], terminal_reason } = await end;
      if (subtype === 'success' && !is_error) return { status: 'completed', text: result };
      const text = [terminal_reason, result, ...errors].join(' ');
      return { status: text.includes('abort') ? 'interrupted' : 'failed', text };
    };
    return {
      turn,
      interrupt: () =>
        program.send({ type: 'control_request', request_id: 'stop', request: { subtype: 'interrupt' } }),
      async compact() {
        const boundary = program.next(({ subtype }) => subtype === 'compact_boundary');
        await turn('/compact');
        await boundary;
      },
      close: () => program.close(),
    };
  },
};

export const codexSession: SessionAgent = {
  name: codex.name,
  package: codex.package,
  model: 'double/agent',
  look: (path) => calling('view_image', { path }),
  run: (cmd) => calling('exec_command', { cmd }),
  summaryRequest: 'another LLM',
  ownTurn: 'permissions instructions',
  async open(task, { settings = '' } = {}) {
    writeCodexSettings(task, settings);
    const program = startProgram(codexProgram(), ['app-server'], {
      cwd: task.folder,
      env: codexEnvironment(task),
    });
    const ask = askerOf(program);
    await ask('initialize', { clientInfo: { name: 'test', title: null, version: '1' } });
    program.send({ method: 'initialized' });
    const { thread } = await ask('thread/start', {
      cwd: task.folder,
      approvalPolicy: 'never',
      sandbox: 'danger-full-access',
    });
    const threadId: string = thread.id;
    let turnId = '';
    const completed = () => program.next(({ method }) => method === 'turn/completed');
    return {
      async turn(text) {
        let said = '';
        const heard = (message: any): boolean => {
          if (message.method === 'item/completed' && message.params.item.type === 'agentMessage') {
            said = message.params.item.text;
          }
          return message.method === 'turn/completed';
        };
        const end = program.next(heard);
        const begun = await ask('turn/start', {
          threadId,
          input: [{ type: 'text', text, text_elements: [] }],
        });
        turnId = begun.turn.id;
        const { status, error } = (await end).params.turn;
        return { status, text: error === null ? said : JSON.stringify(error) };
      },
      interrupt: () => void ask('turn/interrupt', { threadId, turnId }),
      async compact() {
        const end = completed();
        await ask('thread/compact/start', { threadId });
        await end;
      },
      close: () => program.close(),
    };
  },
};

/** Asks questions of JSON-RPC. */
function askerOf(program: RunningProgram): (method: string, params: object) => Promise<any> {
  let asked = 0;
  return async (method, params) => {
    const id = ++asked;
    const reply = program.next((message) => message.id === id && message.method === undefined);
    program.send({ id, method, params });
    const { result, error } = await reply;
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  };
}
