import { mkdir, open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import type { RulebookCopy } from '../../client/index.js'
import type { Hex } from '../../protocol/hex.js'
import { rulebookCopySchema } from '../../protocol/rulebookCopy.js'
import { parseStrictJson } from '../../protocol/strictJson.js'
import type { Environment } from './connection.js'
import { stateDirectory } from './stateDirectory.js'

/** The latest copy of each institution's rulebook, sealed to its admin's key. */
export interface KeptRulebooks {
  /** The file is durable when this resolves. */
  keep(copy: RulebookCopy): Promise<void>
  /** JSON, unvalidated; null if there is no copy or it is damaged. */
  find(name: Pick<RulebookCopy, 'escrow' | 'orgId'>): Promise<unknown>
}

export function createKeptRulebooks(env: Environment): KeptRulebooks {
  const directory = stateDirectory(env, 'rulebooks')
  const pathOf = ({ escrow, orgId }: { escrow: Hex; orgId: Hex }) =>
    join(directory, `${escrow.toLowerCase()}-${orgId}.json`)
  return {
    async keep(copy) {
      await mkdir(directory, { recursive: true, mode: 0o700 })
      const path = pathOf(copy)
      const file = await open(`${path}.new`, 'w', 0o600)
      try {
        await file.writeFile(JSON.stringify(z.encode(rulebookCopySchema, copy)))
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(`${path}.new`, path)
    },
    async find(name) {
      try {
        return parseStrictJson(await readFile(pathOf(name), 'utf8'))
      } catch {
        return null
      }
    },
  }
}
