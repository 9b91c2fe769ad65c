import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { access, chown, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { killWithParent } from '../../src/sandbox/killWithParent.js'
import { Secret } from '../../src/service/secret.js'
import { freePorts } from './freePorts.js'

/** A private PostgreSQL server on 127.0.0.1 with production durability. It ends with this process. */
export type Postgres = Awaited<ReturnType<typeof servePostgres>>

type PostgresHost = Awaited<ReturnType<typeof createHost>>

const USER = 'backend'
/** Valid only while this process runs. */
const PASSWORD = randomBytes(16).toString('hex')

/** The user `nobody`: PostgreSQL refuses to run as root, and this user owns no other files. */
const NOBODY = 65_534
/** The programs of a full installation; some paths hold only a few of them. */
const PROGRAMS = ['initdb', 'postgres', 'pg_basebackup']
const READY_POLL_MS = 50

/**
 * Starts a server with a fresh directory.
 * @param parent holds that directory until it is removed
 * @throws Error when PostgreSQL is not installed
 */
export async function startPostgres(parent = tmpdir()): Promise<Postgres> {
  const host = await createHost(parent)
  try {
    const passwordFile = join(host.directory, 'password')
    await writeFile(passwordFile, PASSWORD)
    const access = ['-U', USER, '-A', 'scram-sha-256', `--pwfile=${passwordFile}`]
    await host.run('initdb', ['-D', join(host.directory, 'data'), ...access, '-E', 'UTF8'])
    return await servePostgres(host, 'data')
  } catch (error) {
    await rm(host.directory, { recursive: true, force: true })
    throw error
  }
}

/** Starts a server on the data directory `name` in the host's directory. */
export async function servePostgres(host: PostgresHost, name: string) {
  const { directory } = host
  const [port = 0] = await freePorts(1)
  let server: ChildProcess | undefined
  let databases = 0

  const urlOf = (database: string, via = port) =>
    `postgresql://${USER}:${PASSWORD}@127.0.0.1:${via}/${database}`

  async function query(text: string): Promise<void> {
    const client = new pg.Client({ connectionString: urlOf('postgres') })
    // The client reports a server that ends during a connection here too.
    client.on('error', () => undefined)
    await client.connect()
    try {
      await client.query(text)
    } finally {
      await client.end()
    }
  }

  async function start(): Promise<void> {
    const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', `unix_socket_directories=${directory}`]
    const flags = [...settings, 'max_connections=200'].flatMap((setting) => ['-c', setting])
    const child = host.start('postgres', ['-D', join(directory, name), ...flags])
    killWithParent(child)
    server = child
    // After a crash it syncs its files first, which takes as long as the disk does: then it answers, or has ended.
    for (;;) {
      try {
        return await query('SELECT 1')
      } catch (cause) {
        if (!isRunning()) throw new Error('PostgreSQL did not start', { cause })
      }
      await sleep(READY_POLL_MS)
    }
  }

  const isRunning = () => server?.exitCode === null && server.signalCode === null

  async function kill(): Promise<void> {
    if (server === undefined || !isRunning()) return
    const ended = once(server, 'exit')
    server.kill('SIGQUIT')
    await ended
  }

  await start()
  return {
    port,
    user: USER,
    password: PASSWORD,
    host,
    /** Its data directory. */
    data: join(directory, name),
    /** Runs one statement in the default database. */
    query,
    /** Creates an empty database with a unique name and returns its URL; `via` is the port of a proxy in front of the server. */
    async createDatabase(via?: number) {
      const database = `backend_${databases++}`
      await query(`CREATE DATABASE ${database}`)
      return new Secret(urlOf(database, via))
    },
    /** Kills it without a checkpoint, like a crash of the machine. */
    kill,
    start,
    isRunning,
    /** Stops it and removes its files. */
    async remove() {
      await kill()
      await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
    },
  }
}

/** A directory, and a way to run programs there as a user that PostgreSQL accepts. */
async function createHost(parent: string) {
  const bin = await findPrograms()
  const directory = await mkdtemp(join(parent, 'backend-postgres-'))
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  if (user.uid !== undefined) await chown(directory, user.uid, user.gid)
  const options = {
    ...user,
    cwd: directory,
    env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', PGPASSWORD: PASSWORD },
  }
  return {
    directory,
    start: (program: string, args: readonly string[]): ChildProcess =>
      spawn(join(bin, program), args, { ...options, stdio: 'ignore' }),
    /** @throws Error with the program's own message if it fails */
    async run(program: string, args: readonly string[]): Promise<void> {
      const child = spawn(join(bin, program), args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] })
      let errors = ''
      child.stderr.on('data', (data: Buffer) => {
        errors += data.toString()
      })
      const [code] = await once(child, 'close')
      if (code !== 0) throw new Error(`${program} failed: ${errors}`)
    },
  }
}

/** Finds the programs on the path, or where Debian installs them. */
async function findPrograms(): Promise<string> {
  const debian = '/usr/lib/postgresql'
  const versions = await readdir(debian).catch((): string[] => [])
  const newestFirst = versions
    .toSorted((a, b) => Number(b) - Number(a))
    .map((version) => join(debian, version, 'bin'))
  for (const directory of [...(process.env.PATH ?? '').split(':'), ...newestFirst]) {
    const isThere = await Promise.all(PROGRAMS.map((name) => access(join(directory, name)))).then(
      () => true,
      () => false,
    )
    if (directory !== '' && isThere) return directory
  }
  throw new Error(
    'PostgreSQL is not installed (Debian: apt-get install postgresql; Homebrew: brew install postgresql)',
  )
}
