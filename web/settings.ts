/// <reference path="./build.d.ts" />
import {
  deskSettingsSchema,
  type SandboxDeskSettings,
  sandboxDeskSettings,
} from '../src/protocol/deskSettings.js'

export type { DemoWallet } from '../src/protocol/deskSettings.js'
export type Settings = SandboxDeskSettings

// Only the sandbox's build of the page knows the stand-in of its device.
const schema = IS_SANDBOX ? sandboxDeskSettings() : deskSettingsSchema

/** @throws Error if the settings are missing or malformed */
export async function loadSettings(): Promise<Settings> {
  const response = await fetch('desk.json', { cache: 'no-store' })
  if (!response.ok) throw new Error(`desk.json is answered with ${response.status}`)
  return schema.parse(await response.json())
}
