import { z } from 'zod'
import type { Durability } from '../engine.js'
import { asking, type Database } from './database.js'

/** Source: https://www.postgresql.org/docs/current/runtime-config-wal.html and `pg_stat_replication`. */
const READ = `SELECT current_setting('fsync') AS fsync,
  current_setting('synchronous_commit') AS synchronous_commit,
  current_setting('synchronous_standby_names') AS standby_names,
  (SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum'))::integer AS standbys,
  (SELECT count(*) FROM pg_stat_replication WHERE sync_state IS NULL)::integer AS hidden`

const settingsSchema = z.tuple([
  z.object({
    fsync: z.string(),
    synchronous_commit: z.string(),
    standby_names: z.string(),
    standbys: z.int(),
    hidden: z.int(),
  }),
])

/** With these a commit waits for the standby as well as for the own disk. */
const WAITING = ['on', 'remote_write', 'remote_apply']

/** @throws StorageError */
export async function readDurability(database: Database): Promise<Durability> {
  const [settings] = settingsSchema.parse(await asking(database.query(READ)))
  const { fsync, synchronous_commit: commit, standby_names: names, standbys, hidden } = settings
  return {
    fault: fsync === 'off' ? 'fsync = off' : commit === 'off' ? 'synchronous_commit = off' : null,
    waitsForStandby: names.trim() !== '' && WAITING.includes(commit),
    standbys: hidden > 0 ? undefined : standbys,
  }
}
