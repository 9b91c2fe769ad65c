// Many test files begin with the same state of the chain. A run sets it up once: one file saves it, and the others load it.
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonRpcProvider } from 'ethers'
import * as z from 'zod'
import { addressSchema } from '../../src/protocol/address.js'
import { contractsSchema } from '../../src/protocol/api.js'

/** The directory of a run's states. Workers inherit it. */
const VARIABLE = 'SAVED_CHAINS'

/** The global setup of vitest. */
export default async function saveChains(): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'saved-chains-'))
  process.env[VARIABLE] = directory
  return () => rm(directory, { recursive: true, force: true })
}

const deployedSchema = z.object({ contracts: contractsSchema, usdc: addressSchema, authority: addressSchema })
/** The addresses of what is deployed. */
export type Deployed = z.output<typeof deployedSchema>

const savedSchema = z.object({ state: z.string(), deployed: deployedSchema })

/** Loads a state onto a chain that has no block yet; undefined when no file of this run has saved it. */
export async function loadChain(provider: JsonRpcProvider, name: string): Promise<Deployed | undefined> {
  const text = await readSaved(name)
  if (text === undefined) return undefined
  const { state, deployed } = savedSchema.parse(JSON.parse(text))
  await provider.send('anvil_loadState', [state])
  // The head would be as old as the state.
  await provider.send('evm_mine', [])
  return deployed
}

export async function saveChain(provider: JsonRpcProvider, name: string, deployed: Deployed): Promise<void> {
  if (pathOf(name) === undefined) return
  // With the states of earlier blocks, which some tests read.
  const state: unknown = await provider.send('anvil_dumpState', [true])
  await writeSaved(name, JSON.stringify({ state, deployed }))
}

/** The state that a file of this run has saved under this name; undefined when none has. */
export async function readSaved(name: string): Promise<string | undefined> {
  const path = pathOf(name)
  return path === undefined ? undefined : readFile(path, 'utf8').catch(() => undefined)
}

/** Saves a text for the other files of this run. */
export async function writeSaved(name: string, text: string): Promise<void> {
  const path = pathOf(name)
  if (path === undefined) return
  const unfinished = `${path}.${process.pid}`
  await writeFile(unfinished, text)
  await rename(unfinished, path)
}

function pathOf(name: string): string | undefined {
  const directory = process.env[VARIABLE]
  return directory === undefined ? undefined : join(directory, name)
}
