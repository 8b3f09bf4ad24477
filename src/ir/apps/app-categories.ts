/** What apps can be: groups, and the categories in each. Apps are tagged with categories, never with a group. */
export const APP_CATEGORIES = {
  coding: ['cli-agent', 'ide-extension', 'cloud-agent', 'programming-app', 'native-app-builder'],
  creative: ['creative-writing', 'video-gen', 'image-gen', 'audio-gen'],
  productivity: ['writing-assistant', 'general-chat', 'personal-agent', 'legal'],
  entertainment: ['roleplay', 'game'],
} as const;

export type AppCategoryGroup = keyof typeof APP_CATEGORIES;

export type AppCategory = (typeof APP_CATEGORIES)[AppCategoryGroup][number];

const KNOWN: ReadonlySet<string> = new Set(Object.values(APP_CATEGORIES).flat());

/** Categories that an app may have in all. */
const MAX_CATEGORIES_OF_APP = 10;

/** Whether apps can be tagged with it. */
export function isAppCategory(name: string): name is AppCategory {
  return KNOWN.has(name);
}

/** What an app has been called so far and what it is called besides, in the order of first naming, within its limit. */
export function mergedCategories(known: readonly string[], named: readonly string[]): readonly string[] {
  return [...new Set([...known, ...named])].slice(0, MAX_CATEGORIES_OF_APP);
}
