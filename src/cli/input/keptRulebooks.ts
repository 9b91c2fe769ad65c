import { mkdir, readFile, rename, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import type { Publication, RulebookCopy } from '../../client/admin.js'
import { publicationSchema, rulebookCopySchema } from '../../protocol/rulebookCopy.js'
import { parseStrictJson } from '../../protocol/strictJson.js'
import { type Environment, stateDirectory } from './connection.js'

export type KeptRulebooks = ReturnType<typeof createKeptRulebooks>

/** An institution of a deployment. */
type Place = Pick<RulebookCopy, 'escrow' | 'orgId'>

/** What was published last for each institution, and what is on its way: each sealed, the copy to its admin's key. */
export function createKeptRulebooks(env: Environment) {
  const directory = stateDirectory(env, 'rulebooks')
  const pathOf = ({ escrow, orgId }: Place, ending = '') =>
    join(directory, `${escrow.toLowerCase()}-${orgId}${ending}.json`)
  const onItsWay = '-on-its-way'
  /** The file is durable when this resolves. */
  async function write(path: string, value: unknown): Promise<void> {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    await writeFile(`${path}.new`, JSON.stringify(value), { mode: 0o600, flush: true })
    await rename(`${path}.new`, path)
  }
  /** JSON, unvalidated; null if there is no such file or it is damaged. */
  async function read(path: string): Promise<unknown> {
    try {
      return parseStrictJson(await readFile(path, 'utf8'))
    } catch {
      return null
    }
  }
  return {
    keep: (copy: RulebookCopy) => write(pathOf(copy), z.encode(rulebookCopySchema, copy)),
    /** The copy, unvalidated; null without one. */
    find: (place: Place) => read(pathOf(place)),
    keepOnItsWay: (place: Place, publication: Publication) =>
      write(pathOf(place, onItsWay), z.encode(publicationSchema, publication)),
    /** What was posted and not answered; null without one. */
    async findOnItsWay(place: Place): Promise<Publication | null> {
      return publicationSchema.safeParse(await read(pathOf(place, onItsWay))).data ?? null
    },
    async forgetOnItsWay(place: Place): Promise<void> {
      await unlink(pathOf(place, onItsWay)).catch(() => undefined)
    },
  }
}
