import { type DeskSettings, deskSettingsSchema } from '../src/protocol/deskSettings.js'

export type { DemoWallet } from '../src/protocol/deskSettings.js'
export type Settings = DeskSettings

/** @throws Error if the settings are missing or malformed */
export async function loadSettings(): Promise<Settings> {
  const response = await fetch('desk.json', { cache: 'no-store' })
  if (!response.ok) throw new Error(`desk.json is answered with ${response.status}`)
  return deskSettingsSchema.parse(await response.json())
}
