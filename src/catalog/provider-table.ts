import type { Quirks } from '../ir/quirks.ts';
import type { DialectWord } from './entries.ts';
import type { Auth, DataPolicy, ProviderFacts } from './provider.ts';

/**
 * One way in which people keep a credential in the environment: the variable that holds it, or the variables that hold
 * the members of its JSON form, all of which must be set.
 */
export type KeySource = string | Readonly<Record<string, string>>;

/**
 * What is public knowledge about a provider. With a dialect and an address, a configuration only has to name it and give
 * a key. Where the dialect is known and the address is not, the account or the credential decides it.
 */
export interface ProviderRow {
  /** Display name. */
  readonly name: string;
  readonly dialect?: DialectWord;
  /** Everything before the dialect's own path, https. */
  readonly base_url?: string;
  /** What the address looks like where the account decides it: an example for people. */
  readonly address_example?: string;
  /** Absent = as the dialect does. */
  readonly auth?: Auth;
  /** The first one that is set counts. */
  readonly keys?: readonly KeySource[];
  /** Variable with the region of a plain key. */
  readonly region_variable?: string;
  readonly quirks?: Quirks;
  /** As published for paying API customers; where the terms leave room, the stricter reading. Absent = not known. */
  readonly data_policy?: DataPolicy;
  readonly facts?: ProviderFacts;
}

/** Neither trains on prompts nor keeps them. */
const ZERO_RETENTION: DataPolicy = { training: false, retainsPrompts: false };
/** Keeps prompts for a time, against abuse, and does not train on them. */
const ABUSE_MONITORING: DataPolicy = { training: false, retainsPrompts: true };

/** Providers by slug, in alphabetical order. A provider that speaks a known dialect is one row here. */
export const PROVIDER_TABLE: Readonly<Record<string, ProviderRow>> = {
  ai21: {
    name: 'AI21',
    dialect: 'openai-chat',
    base_url: 'https://api.ai21.com/studio/v1',
    keys: ['AI21_API_KEY'],
  },
  'aion-labs': {
    name: 'AionLabs',
    dialect: 'openai-chat',
    base_url: 'https://api.aionlabs.ai/v1',
    keys: ['AION_LABS_API_KEY'],
  },
  akashml: { name: 'AkashML' },
  alibaba: {
    name: 'Alibaba',
    dialect: 'openai-chat',
    base_url: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    keys: ['DASHSCOPE_API_KEY'],
    quirks: { refusesDeveloperRole: true, thinkingField: 'enable_thinking' },
    facts: { headquarters: 'CN' },
  },
  'amazon-bedrock': {
    name: 'Amazon Bedrock',
    dialect: 'aws-bedrock',
    keys: [
      { apiKey: 'AWS_BEARER_TOKEN_BEDROCK', region: 'AWS_REGION' },
      'AWS_BEARER_TOKEN_BEDROCK',
      {
        accessKeyId: 'AWS_ACCESS_KEY_ID',
        secretAccessKey: 'AWS_SECRET_ACCESS_KEY',
        sessionToken: 'AWS_SESSION_TOKEN',
        region: 'AWS_REGION',
      },
      {
        accessKeyId: 'AWS_ACCESS_KEY_ID',
        secretAccessKey: 'AWS_SECRET_ACCESS_KEY',
        region: 'AWS_REGION',
      },
    ],
    region_variable: 'AWS_REGION',
    data_policy: ZERO_RETENTION,
    facts: {
      privacyPolicyUrl: 'https://aws.amazon.com/privacy/',
      termsOfServiceUrl: 'https://aws.amazon.com/service-terms/',
      statusPageUrl: 'https://health.aws.amazon.com/health/status',
      headquarters: 'US',
    },
  },
  'amazon-nova': {
    name: 'Amazon Nova',
    dialect: 'openai-chat',
    base_url: 'https://api.nova.amazon.com/v1',
    keys: ['NOVA_API_KEY'],
    facts: { headquarters: 'US' },
  },
  ambient: {
    name: 'Ambient',
    dialect: 'openai-chat',
    base_url: 'https://api.ambient.xyz/v1',
    keys: ['AMBIENT_API_KEY'],
  },
  anthropic: {
    name: 'Anthropic',
    dialect: 'anthropic-messages',
    base_url: 'https://api.anthropic.com/v1',
    keys: ['ANTHROPIC_API_KEY'],
    data_policy: ABUSE_MONITORING,
    facts: {
      privacyPolicyUrl: 'https://www.anthropic.com/legal/privacy',
      termsOfServiceUrl: 'https://www.anthropic.com/legal/commercial-terms',
      statusPageUrl: 'https://status.anthropic.com',
      headquarters: 'US',
    },
  },
  'arcee-ai': {
    name: 'Arcee AI',
    dialect: 'openai-chat',
    base_url: 'https://api.arcee.ai/api/v1',
    keys: ['ARCEE_API_KEY'],
    facts: { headquarters: 'US' },
  },
  'atlas-cloud': {
    name: 'AtlasCloud',
    dialect: 'openai-chat',
    base_url: 'https://api.atlascloud.ai/v1',
    keys: ['ATLASCLOUD_API_KEY', 'ATLAS_CLOUD_API_KEY'],
  },
  avian: {
    name: 'Avian',
    dialect: 'openai-chat',
    base_url: 'https://api.avian.io/v1',
    keys: ['AVIAN_API_KEY'],
  },
  azure: {
    name: 'Azure',
    dialect: 'openai-chat',
    auth: 'azure',
    keys: [
      { api_key: 'AZURE_OPENAI_API_KEY', resource_name: 'AZURE_RESOURCE_NAME' },
      { api_key: 'AZURE_API_KEY', resource_name: 'AZURE_RESOURCE_NAME' },
    ],
    quirks: { outputLimitField: 'max_completion_tokens', highestEffort: 'xhigh' },
    data_policy: ABUSE_MONITORING,
    facts: {
      privacyPolicyUrl: 'https://privacy.microsoft.com/privacystatement',
      termsOfServiceUrl: 'https://www.microsoft.com/licensing/terms/',
      statusPageUrl: 'https://status.azure.com',
      headquarters: 'US',
    },
  },
  baidu: {
    name: 'Baidu',
    dialect: 'openai-chat',
    base_url: 'https://qianfan.baidubce.com/v2',
    keys: ['QIANFAN_API_KEY'],
    facts: { headquarters: 'CN' },
  },
  baseten: {
    name: 'BaseTen',
    dialect: 'openai-chat',
    base_url: 'https://inference.baseten.co/v1',
    keys: ['BASETEN_API_KEY'],
    facts: { headquarters: 'US' },
  },
  'black-forest-labs': { name: 'Black Forest Labs' },
  byteplus: {
    name: 'BytePlus',
    dialect: 'openai-chat',
    base_url: 'https://ark.ap-southeast.bytepluses.com/api/v3',
    keys: ['ARK_API_KEY'],
    quirks: { refusesDeveloperRole: true, thinkingField: 'thinking' },
  },
  cerebras: {
    name: 'Cerebras',
    dialect: 'openai-chat',
    base_url: 'https://api.cerebras.ai/v1',
    keys: ['CEREBRAS_API_KEY'],
    quirks: {
      refusesDeveloperRole: true,
      refusesTextLists: true,
      refusedFields: ['frequency_penalty', 'presence_penalty', 'logit_bias'],
    },
    facts: {
      privacyPolicyUrl: 'https://www.cerebras.ai/privacy-policy',
      statusPageUrl: 'https://status.cerebras.ai',
      headquarters: 'US',
    },
  },
  chutes: {
    name: 'Chutes',
    dialect: 'openai-chat',
    base_url: 'https://llm.chutes.ai/v1',
    keys: ['CHUTES_API_KEY'],
    quirks: { refusesDeveloperRole: true },
  },
  cirrascale: { name: 'Cirrascale' },
  clarifai: {
    name: 'Clarifai',
    dialect: 'openai-chat',
    base_url: 'https://api.clarifai.com/v2/ext/openai/v1',
    keys: ['CLARIFAI_PAT'],
    facts: { headquarters: 'US' },
  },
  cloudflare: {
    name: 'Cloudflare',
    dialect: 'openai-chat',
    address_example: 'https://api.cloudflare.com/client/v4/accounts/ACCOUNT/ai/v1',
    keys: ['CLOUDFLARE_API_TOKEN', 'CLOUDFLARE_API_KEY'],
    quirks: { refusesDeveloperRole: true },
    facts: {
      privacyPolicyUrl: 'https://www.cloudflare.com/privacypolicy/',
      statusPageUrl: 'https://www.cloudflarestatus.com',
      headquarters: 'US',
    },
  },
  cohere: {
    name: 'Cohere',
    dialect: 'openai-chat',
    base_url: 'https://api.cohere.ai/compatibility/v1',
    keys: ['COHERE_API_KEY', 'CO_API_KEY'],
    facts: {
      privacyPolicyUrl: 'https://cohere.com/privacy',
      termsOfServiceUrl: 'https://cohere.com/terms-of-use',
      statusPageUrl: 'https://status.cohere.com',
      headquarters: 'CA',
    },
  },
  coreweave: { name: 'CoreWeave', facts: { headquarters: 'US' } },
  crusoe: {
    name: 'Crusoe',
    dialect: 'openai-chat',
    base_url: 'https://managed-inference-api-proxy.crusoecloud.com/v1',
    keys: ['CRUSOE_API_KEY'],
    facts: { headquarters: 'US' },
  },
  darkbloom: { name: 'Darkbloom' },
  databricks: {
    name: 'Databricks',
    dialect: 'openai-chat',
    address_example: 'https://WORKSPACE.cloud.databricks.com/serving-endpoints',
    keys: ['DATABRICKS_TOKEN'],
    facts: { headquarters: 'US' },
  },
  decart: { name: 'Decart' },
  deepgram: { name: 'Deepgram', facts: { headquarters: 'US' } },
  deepinfra: {
    name: 'DeepInfra',
    dialect: 'openai-chat',
    base_url: 'https://api.deepinfra.com/v1/openai',
    keys: ['DEEPINFRA_API_KEY', 'DEEPINFRA_TOKEN'],
    facts: {
      privacyPolicyUrl: 'https://deepinfra.com/privacy',
      termsOfServiceUrl: 'https://deepinfra.com/terms',
      statusPageUrl: 'https://status.deepinfra.com',
      headquarters: 'US',
    },
  },
  deepseek: {
    name: 'DeepSeek',
    dialect: 'openai-chat',
    base_url: 'https://api.deepseek.com/v1',
    keys: ['DEEPSEEK_API_KEY'],
    quirks: {
      refusesDeveloperRole: true,
      refusesTextLists: true,
      refusesSchemas: true,
      thoughtsMember: 'reasoning_content',
      thinkingField: 'thinking',
      mostStopSequences: 16,
    },
    data_policy: { training: true, retainsPrompts: true },
    facts: {
      privacyPolicyUrl: 'https://cdn.deepseek.com/policies/en-US/deepseek-privacy-policy.html',
      termsOfServiceUrl:
        'https://cdn.deepseek.com/policies/en-US/deepseek-open-platform-terms-of-service.html',
      statusPageUrl: 'https://status.deepseek.com',
      headquarters: 'CN',
    },
  },
  dekallm: { name: 'DekaLLM' },
  digitalocean: {
    name: 'DigitalOcean',
    dialect: 'openai-chat',
    base_url: 'https://inference.do-ai.run/v1',
    // The token of the whole account, which many environments hold for other reasons, is not looked for.
    keys: ['GRADIENT_MODEL_ACCESS_KEY'],
    facts: { statusPageUrl: 'https://status.digitalocean.com', headquarters: 'US' },
  },
  featherless: {
    name: 'Featherless',
    dialect: 'openai-chat',
    base_url: 'https://api.featherless.ai/v1',
    keys: ['FEATHERLESS_API_KEY', 'FEATHERLESS_AI_API_KEY'],
  },
  fireworks: {
    name: 'Fireworks',
    dialect: 'openai-chat',
    base_url: 'https://api.fireworks.ai/inference/v1',
    keys: ['FIREWORKS_API_KEY'],
    data_policy: ZERO_RETENTION,
    facts: {
      privacyPolicyUrl: 'https://fireworks.ai/privacy-policy',
      termsOfServiceUrl: 'https://fireworks.ai/terms-of-service',
      statusPageUrl: 'https://status.fireworks.ai',
      headquarters: 'US',
    },
  },
  'fish-audio': { name: 'Fish Audio' },
  friendli: {
    name: 'Friendli',
    dialect: 'openai-chat',
    base_url: 'https://api.friendli.ai/serverless/v1',
    keys: ['FRIENDLI_TOKEN'],
  },
  gmicloud: {
    name: 'GMICloud',
    dialect: 'openai-chat',
    base_url: 'https://api.gmi-serving.com/v1',
    keys: ['GMI_API_KEY', 'GMICLOUD_API_KEY', 'GMI_CLOUD_API_KEY'],
    facts: { headquarters: 'US' },
  },
  'google-ai-studio': {
    name: 'Google AI Studio',
    dialect: 'google-gemini',
    base_url: 'https://generativelanguage.googleapis.com/v1beta',
    keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'],
    facts: {
      privacyPolicyUrl: 'https://policies.google.com/privacy',
      termsOfServiceUrl: 'https://ai.google.dev/gemini-api/terms',
      statusPageUrl: 'https://aistudio.google.com/status',
      headquarters: 'US',
    },
  },
  'google-vertex': {
    name: 'Google',
    dialect: 'google-gemini',
    keys: ['GOOGLE_VERTEX_CREDENTIALS', 'GOOGLE_APPLICATION_CREDENTIALS_JSON'],
    data_policy: ABUSE_MONITORING,
    facts: {
      privacyPolicyUrl: 'https://cloud.google.com/terms/cloud-privacy-notice',
      termsOfServiceUrl: 'https://cloud.google.com/terms',
      statusPageUrl: 'https://status.cloud.google.com',
      headquarters: 'US',
    },
  },
  groq: {
    name: 'Groq',
    dialect: 'openai-chat',
    base_url: 'https://api.groq.com/openai/v1',
    keys: ['GROQ_API_KEY'],
    quirks: {
      refusesTextLists: true,
      refusedFields: [
        'logprobs',
        'top_logprobs',
        'logit_bias',
        'top_k',
        'top_a',
        'min_p',
        'repetition_penalty',
      ],
    },
    data_policy: ABUSE_MONITORING,
    facts: {
      privacyPolicyUrl: 'https://groq.com/privacy-policy/',
      termsOfServiceUrl: 'https://groq.com/terms-of-use/',
      statusPageUrl: 'https://groqstatus.com',
      headquarters: 'US',
    },
  },
  heygen: { name: 'HeyGen', facts: { headquarters: 'US' } },
  inception: {
    name: 'Inception',
    dialect: 'openai-chat',
    base_url: 'https://api.inceptionlabs.ai/v1',
    keys: ['INCEPTION_API_KEY'],
    facts: { headquarters: 'US' },
  },
  inceptron: {
    name: 'Inceptron',
    dialect: 'openai-chat',
    base_url: 'https://api.inceptron.io/v1',
    keys: ['INCEPTRON_API_KEY'],
  },
  'inferact-vllm': { name: 'Inferact vLLM' },
  'inference-net': {
    name: 'InferenceNet',
    dialect: 'openai-chat',
    base_url: 'https://api.inference.net/v1',
    keys: ['INFERENCE_API_KEY'],
    facts: { headquarters: 'US' },
  },
  infermatic: {
    name: 'Infermatic',
    dialect: 'openai-chat',
    base_url: 'https://api.totalgpt.ai/v1',
    keys: ['INFERMATIC_API_KEY'],
  },
  inflection: { name: 'Inflection', facts: { headquarters: 'US' } },
  'io-net': {
    name: 'Io Net',
    dialect: 'openai-chat',
    base_url: 'https://api.intelligence.io.solutions/api/v1',
    keys: ['IOINTELLIGENCE_API_KEY'],
  },
  ionstream: { name: 'Ionstream' },
  krea: { name: 'Krea' },
  liquid: { name: 'Liquid', facts: { headquarters: 'US' } },
  makora: { name: 'Makora' },
  mancer: {
    name: 'Mancer 2',
    dialect: 'openai-chat',
    base_url: 'https://neuro.mancer.tech/oai/v1',
    keys: ['MANCER_API_KEY'],
  },
  mara: { name: 'Mara' },
  meta: {
    name: 'Meta',
    dialect: 'openai-chat',
    base_url: 'https://api.llama.com/compat/v1',
    keys: ['LLAMA_API_KEY'],
    facts: { headquarters: 'US' },
  },
  minimax: {
    name: 'Minimax',
    dialect: 'openai-chat',
    base_url: 'https://api.minimax.io/v1',
    keys: ['MINIMAX_API_KEY'],
    quirks: { refusesDeveloperRole: true },
    facts: { headquarters: 'CN' },
  },
  mistral: {
    name: 'Mistral',
    dialect: 'openai-chat',
    base_url: 'https://api.mistral.ai/v1',
    keys: ['MISTRAL_API_KEY'],
    quirks: {
      refusesDeveloperRole: true,
      outputLimitField: 'max_tokens',
      toolCallIds: 'nine-alphanumerics',
      renamedFields: { seed: 'random_seed' },
      refusedFields: [
        'stream_options',
        'logit_bias',
        'logprobs',
        'top_logprobs',
        'top_k',
        'top_a',
        'min_p',
        'repetition_penalty',
        'user',
        'safety_identifier',
        'prompt_cache_key',
        'service_tier',
        'verbosity',
        'modalities',
        'image_config',
        'store',
      ],
    },
    facts: {
      privacyPolicyUrl: 'https://legal.mistral.ai/terms/privacy-policy',
      termsOfServiceUrl: 'https://legal.mistral.ai/terms',
      statusPageUrl: 'https://status.mistral.ai',
      headquarters: 'FR',
    },
  },
  modal: { name: 'Modal', facts: { headquarters: 'US' } },
  modelrun: { name: 'ModelRun' },
  modular: { name: 'Modular', facts: { headquarters: 'US' } },
  moonshotai: {
    name: 'Moonshot AI',
    dialect: 'openai-chat',
    base_url: 'https://api.moonshot.ai/v1',
    keys: ['MOONSHOT_API_KEY'],
    quirks: {
      refusesDeveloperRole: true,
      thoughtsMember: 'reasoning_content',
      thinkingField: 'thinking',
    },
    facts: { headquarters: 'CN' },
  },
  morph: {
    name: 'Morph',
    dialect: 'openai-chat',
    base_url: 'https://api.morphllm.com/v1',
    keys: ['MORPH_API_KEY'],
    facts: { headquarters: 'US' },
  },
  ncompass: { name: 'NCompass' },
  nebius: {
    name: 'Nebius',
    dialect: 'openai-chat',
    base_url: 'https://api.tokenfactory.nebius.com/v1',
    keys: ['NEBIUS_API_KEY'],
    facts: { headquarters: 'NL' },
  },
  'nex-agi': { name: 'Nex AGI' },
  nextbit: { name: 'NextBit' },
  novita: {
    name: 'Novita',
    dialect: 'openai-chat',
    base_url: 'https://api.novita.ai/openai',
    keys: ['NOVITA_API_KEY'],
    facts: { headquarters: 'US' },
  },
  nvidia: {
    name: 'Nvidia',
    dialect: 'openai-chat',
    base_url: 'https://integrate.api.nvidia.com/v1',
    keys: ['NVIDIA_API_KEY'],
    quirks: { refusesDeveloperRole: true },
    facts: {
      privacyPolicyUrl: 'https://www.nvidia.com/en-us/about-nvidia/privacy-policy/',
      headquarters: 'US',
    },
  },
  ollama: {
    name: 'Ollama',
    dialect: 'openai-chat',
    base_url: 'http://127.0.0.1:11434/v1',
    quirks: { refusesDeveloperRole: true, thoughtsMember: 'reasoning' },
    data_policy: ZERO_RETENTION,
  },
  'open-inference': { name: 'OpenInference' },
  openai: {
    name: 'OpenAI',
    dialect: 'openai-responses',
    base_url: 'https://api.openai.com/v1',
    keys: ['OPENAI_API_KEY'],
    // For those who speak the chat dialect to it.
    quirks: { outputLimitField: 'max_completion_tokens', highestEffort: 'xhigh' },
    data_policy: ABUSE_MONITORING,
    facts: {
      privacyPolicyUrl: 'https://openai.com/policies/privacy-policy',
      termsOfServiceUrl: 'https://openai.com/policies/services-agreement',
      statusPageUrl: 'https://status.openai.com',
      headquarters: 'US',
    },
  },
  parasail: {
    name: 'Parasail',
    dialect: 'openai-chat',
    base_url: 'https://api.parasail.io/v1',
    keys: ['PARASAIL_API_KEY'],
    facts: { headquarters: 'US' },
  },
  perceptron: { name: 'Perceptron' },
  perplexity: {
    name: 'Perplexity',
    dialect: 'openai-chat',
    base_url: 'https://api.perplexity.ai',
    keys: ['PERPLEXITY_API_KEY'],
    quirks: { refusesDeveloperRole: true },
    facts: {
      privacyPolicyUrl: 'https://www.perplexity.ai/hub/legal/privacy-policy',
      statusPageUrl: 'https://status.perplexity.com',
      headquarters: 'US',
    },
  },
  phala: {
    name: 'Phala',
    dialect: 'openai-chat',
    base_url: 'https://api.redpill.ai/v1',
    keys: ['PHALA_API_KEY'],
  },
  poolside: {
    name: 'Poolside',
    dialect: 'openai-chat',
    base_url: 'https://inference.poolside.ai/v1',
    keys: ['POOLSIDE_API_KEY'],
  },
  quiver: { name: 'Quiver' },
  recraft: { name: 'Recraft' },
  reka: {
    name: 'Reka',
    dialect: 'openai-chat',
    base_url: 'https://api.reka.ai/v1',
    keys: ['REKA_API_KEY'],
    facts: { headquarters: 'US' },
  },
  relace: { name: 'Relace', facts: { headquarters: 'US' } },
  runway: { name: 'Runway', facts: { headquarters: 'US' } },
  'sail-research': { name: 'Sail Research' },
  sakana: {
    name: 'Sakana AI',
    dialect: 'openai-chat',
    base_url: 'https://api.sakana.ai/v1',
    keys: ['SAKANA_API_KEY'],
    facts: { headquarters: 'JP' },
  },
  'sakana-ai': { name: 'Sakana AI', facts: { headquarters: 'JP' } },
  sambanova: {
    name: 'SambaNova',
    dialect: 'openai-chat',
    base_url: 'https://api.sambanova.ai/v1',
    keys: ['SAMBANOVA_API_KEY'],
    facts: { privacyPolicyUrl: 'https://sambanova.ai/privacy-policy', headquarters: 'US' },
  },
  seed: { name: 'Seed' },
  siliconflow: {
    name: 'SiliconFlow',
    dialect: 'openai-chat',
    base_url: 'https://api.siliconflow.com/v1',
    keys: ['SILICONFLOW_API_KEY'],
    quirks: { refusesDeveloperRole: true, thinkingField: 'enable_thinking' },
  },
  sourceful: { name: 'Sourceful' },
  stepfun: {
    name: 'StepFun',
    dialect: 'openai-chat',
    base_url: 'https://api.stepfun.com/v1',
    keys: ['STEPFUN_API_KEY'],
    facts: { headquarters: 'CN' },
  },
  streamlake: { name: 'StreamLake', facts: { headquarters: 'CN' } },
  switchpoint: { name: 'Switchpoint' },
  tencent: {
    name: 'Tencent',
    dialect: 'openai-chat',
    base_url: 'https://api.hunyuan.cloud.tencent.com/v1',
    keys: ['HUNYUAN_API_KEY'],
    facts: { headquarters: 'CN' },
  },
  tenstorrent: { name: 'Tenstorrent' },
  thinkingmachines: { name: 'Thinking Machines', facts: { headquarters: 'US' } },
  together: {
    name: 'Together',
    dialect: 'openai-chat',
    base_url: 'https://api.together.xyz/v1',
    keys: ['TOGETHER_API_KEY', 'TOGETHER_AI_API_KEY'],
    quirks: { refusesDeveloperRole: true },
    facts: {
      privacyPolicyUrl: 'https://www.together.ai/privacy',
      termsOfServiceUrl: 'https://www.together.ai/terms-of-service',
      statusPageUrl: 'https://status.together.ai',
      headquarters: 'US',
    },
  },
  upstage: {
    name: 'Upstage',
    dialect: 'openai-chat',
    base_url: 'https://api.upstage.ai/v1',
    keys: ['UPSTAGE_API_KEY'],
    facts: { headquarters: 'KR' },
  },
  venice: {
    name: 'Venice',
    dialect: 'openai-chat',
    base_url: 'https://api.venice.ai/api/v1',
    keys: ['VENICE_API_KEY', 'VENICE_AI_API_KEY'],
    facts: { privacyPolicyUrl: 'https://venice.ai/legal/privacy-policy' },
  },
  wafer: {
    name: 'Wafer',
    dialect: 'openai-chat',
    base_url: 'https://pass.wafer.ai/v1',
    keys: ['WAFER_API_KEY'],
  },
  wandb: {
    name: 'WandB',
    dialect: 'openai-chat',
    base_url: 'https://api.inference.wandb.ai/v1',
    keys: ['WANDB_API_KEY'],
    facts: { statusPageUrl: 'https://status.wandb.com', headquarters: 'US' },
  },
  'wandb-legacy': { name: 'WandB', facts: { headquarters: 'US' } },
  xai: {
    name: 'xAI',
    dialect: 'openai-chat',
    base_url: 'https://api.x.ai/v1',
    keys: ['XAI_API_KEY'],
    quirks: { refusesDeveloperRole: true },
    data_policy: ABUSE_MONITORING,
    facts: {
      privacyPolicyUrl: 'https://x.ai/legal/privacy-policy',
      termsOfServiceUrl: 'https://x.ai/legal/terms-of-service-enterprise',
      statusPageUrl: 'https://status.x.ai',
      headquarters: 'US',
    },
  },
  xiaomi: {
    name: 'Xiaomi',
    dialect: 'openai-chat',
    base_url: 'https://api.xiaomimimo.com/v1',
    keys: ['XIAOMI_API_KEY', 'XIAOMI_MIMO_API_KEY'],
    quirks: { thoughtsMember: 'reasoning_content', thinkingField: 'thinking' },
    facts: { headquarters: 'CN' },
  },
  'z-ai': {
    name: 'Z.AI',
    dialect: 'openai-chat',
    base_url: 'https://api.z.ai/api/paas/v4',
    keys: ['ZAI_API_KEY', 'ZHIPU_API_KEY'],
    quirks: {
      refusesDeveloperRole: true,
      refusesSchemas: true,
      thoughtsMember: 'reasoning_content',
      thinkingField: 'thinking',
    },
    facts: {
      privacyPolicyUrl: 'https://docs.z.ai/legal-agreement/privacy-policy',
      termsOfServiceUrl: 'https://docs.z.ai/legal-agreement/terms-of-use',
      headquarters: 'CN',
    },
  },
};
