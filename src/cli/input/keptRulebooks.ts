import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import type { RulebookCopy } from '../../client/index.js'
import { rulebookCopySchema } from '../../protocol/rulebookCopy.js'
import { parseStrictJson } from '../../protocol/strictJson.js'
import { type Environment, stateDirectory } from './connection.js'

export type KeptRulebooks = ReturnType<typeof createKeptRulebooks>

/** The latest copy of each institution's rulebook, sealed to its admin's key. */
export function createKeptRulebooks(env: Environment) {
  const directory = stateDirectory(env, 'rulebooks')
  const pathOf = ({ escrow, orgId }: Pick<RulebookCopy, 'escrow' | 'orgId'>) =>
    join(directory, `${escrow.toLowerCase()}-${orgId}.json`)
  return {
    /** The file is durable when this resolves. */
    async keep(copy: RulebookCopy): Promise<void> {
      await mkdir(directory, { recursive: true, mode: 0o700 })
      const path = pathOf(copy)
      const text = JSON.stringify(z.encode(rulebookCopySchema, copy))
      await writeFile(`${path}.new`, text, { mode: 0o600, flush: true })
      await rename(`${path}.new`, path)
    },
    /** JSON, unvalidated; null if there is no copy or it is damaged. */
    async find(name: Pick<RulebookCopy, 'escrow' | 'orgId'>): Promise<unknown> {
      try {
        return parseStrictJson(await readFile(pathOf(name), 'utf8'))
      } catch {
        return null
      }
    },
  }
}
