import { type ReadonlySignal, signal } from '@preact/signals'
import * as z from 'zod/mini'
import { isName } from '../../src/client/admin.js'
import type { Client, Hex } from '../../src/client/index.js'
import type { Words } from '../words/contractWords.js'
import { PageError } from '../words/failures.js'
import type { DeviceStore } from './browser.js'

/** The page knows the names, but the browser does not store them. */
export class NotStoredError extends PageError {
  override readonly name = 'NotStoredError'
  override readonly words: Words = [
    'This browser does not store the names',
    'They are lost when you disconnect. Allow this page to store data, and save them again.',
  ]
}

/** No key in this page opens the stored names, and a change would overwrite them. */
export class UnreadableNamesError extends PageError {
  override readonly name = 'UnreadableNamesError'
  override readonly words: Words = [
    'No key in this page opens the names',
    'If you made a new portfolio key, choose its file on the desk.',
  ]
}

/** The names that an admin gives to wallets. They stay on the admin's device, sealed to the admin's wallet. */
export interface Names {
  readonly state: ReadonlySignal<NamesState>
  /** Opens the names on this device. Asks the wallet to sign if its key is not in use yet, and never if there are none. */
  open(): Promise<void>
  /** Changes names; an empty one takes a name back. Opens the others first. */
  give(changes: readonly (readonly [wallet: Hex, name: string])[]): Promise<void>
  /** Forgets every name, also those that no key opens. */
  forget(): Promise<void>
}

interface NamesState {
  /** `sealed`: kept here and not opened yet. `unreadable`: no key in this page opens them. */
  readonly kept: 'reading' | 'none' | 'sealed' | 'open' | 'unreadable'
  readonly given: ReadonlyMap<Hex, string>
}

/** This page sealed them: to read ten thousand as addresses of the wire would compute as many checksums. */
const namesSchema = z.array(
  z.tuple([z.templateLiteral(['0x', z.string()]), z.string().check(z.refine(isName))]),
)
const NONE: ReadonlyMap<Hex, string> = new Map()
const PURPOSE = 'names'

interface NamesDeps {
  readonly client: Pick<Client, 'openFromDevice' | 'sealForDevice'>
  readonly store: DeviceStore
  readonly chainId: number
  readonly account: Hex
}

export function createNames({ client, store, chainId, account }: NamesDeps): Names {
  const record = `names/${chainId}/${account}`.toLowerCase()
  const state = signal<NamesState>(
    { kept: 'reading', given: NONE },
    {
      watched() {
        if (state.peek().kept === 'reading') look()
      },
    },
  )

  /** Null without any, also where the browser forbids storage. */
  async function stored(): Promise<Uint8Array | null> {
    try {
      return await store.get(record)
    } catch {
      return null
    }
  }
  async function look() {
    const kept = (await stored()) === null ? 'none' : 'sealed'
    if (state.peek().kept === 'reading') state.value = { kept, given: NONE }
  }
  async function open() {
    const bytes = await stored()
    // Names that the browser does not store may still be known from this session.
    if (bytes === null) {
      state.value = { kept: state.peek().kept === 'open' ? 'open' : 'none', given: state.peek().given }
      return
    }
    const found = namesSchema.safeParse(await client.openFromDevice(PURPOSE, bytes))
    state.value = found.success
      ? { kept: 'open', given: new Map(found.data) }
      : { kept: 'unreadable', given: NONE }
  }
  async function keep(given: ReadonlyMap<Hex, string>) {
    const bytes = await client.sealForDevice(PURPOSE, [...given])
    state.value = { kept: 'open', given }
    try {
      await store.set(record, bytes)
    } catch (error) {
      throw new NotStoredError('the browser does not store the names', { cause: error })
    }
  }

  return {
    state,
    open,
    async give(changes) {
      await open()
      if (state.peek().kept === 'unreadable') throw new UnreadableNamesError('no key opens the kept names')
      const given = new Map(state.peek().given)
      for (const [wallet, name] of changes) {
        if (name === '') given.delete(wallet)
        else given.set(wallet, name)
      }
      await keep(given)
    },
    forget: () => keep(NONE),
  }
}
