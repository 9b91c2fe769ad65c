import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, chown, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { Secret } from '../../src/server/secret.js'
import { eventually } from './eventually.js'

/** A PostgreSQL server of the test's own on 127.0.0.1, as durable as one in production. */
export interface Postgres {
  readonly port: number
  readonly password: string
  /** Of an empty database with a name of its own; through another port, where a proxy stands before the server. */
  createDatabase(port?: number): Promise<Secret>
  /** Ends it without a checkpoint, as a crash of the machine would. */
  kill(): Promise<void>
  start(): Promise<void>
  /** Ends it and removes its files. */
  remove(): Promise<void>
}

const USER = 'backend'
const PASSWORD = 'the-password-of-the-test'

/** PostgreSQL refuses to run as root. This user owns nothing else. */
const NOBODY = 65_534

/** @param parent where its files are until it is removed */
export async function startPostgres(parent = tmpdir()): Promise<Postgres> {
  const bin = await findPrograms()
  const directory = await mkdtemp(join(parent, 'backend-postgres-'))
  const data = join(directory, 'data')
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  if (user.uid !== undefined) await chown(directory, user.uid, user.gid)
  const port = await freePort()
  const options = {
    ...user,
    cwd: directory,
    env: { ...process.env, LC_ALL: 'C.UTF-8' },
  }
  const passwordFile = join(directory, 'password')
  await writeFile(passwordFile, PASSWORD)
  const initdb = spawn(
    join(bin, 'initdb'),
    ['-D', data, '-U', USER, '-A', 'scram-sha-256', `--pwfile=${passwordFile}`, '-E', 'UTF8'],
    { ...options, stdio: ['ignore', 'ignore', 'pipe'] },
  )
  await succeeded(initdb, 'initdb')
  let server: ChildProcess | undefined
  let databases = 0

  const urlOf = (name: string, via = port) => `postgresql://${USER}:${PASSWORD}@127.0.0.1:${via}/${name}`

  async function query(text: string): Promise<void> {
    const client = new pg.Client({ connectionString: urlOf('postgres') })
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
    server = spawn(join(bin, 'postgres'), ['-D', data, ...flags], { ...options, stdio: 'ignore' })
    await eventually('PostgreSQL answers', () =>
      query('SELECT 1').then(
        () => true,
        () => false,
      ),
    )
  }

  async function stop(signal: 'SIGQUIT' | 'SIGINT'): Promise<void> {
    if (server?.exitCode !== null || server.signalCode !== null) return
    const ended = once(server, 'exit')
    server.kill(signal)
    await ended
  }

  await start()
  return {
    port,
    password: PASSWORD,
    async createDatabase(via) {
      const name = `test_${databases++}`
      await query(`CREATE DATABASE ${name}`)
      return new Secret(urlOf(name, via))
    },
    kill: () => stop('SIGQUIT'),
    start,
    async remove() {
      await stop('SIGQUIT')
      await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
    },
  }
}

/** On the path, or where Debian keeps them. @throws Error where PostgreSQL is not installed */
async function findPrograms(): Promise<string> {
  const debian = '/usr/lib/postgresql'
  const versions = await readdir(debian).catch((): string[] => [])
  const newestFirst = versions
    .toSorted((a, b) => Number(b) - Number(a))
    .map((version) => join(debian, version, 'bin'))
  for (const directory of [...(process.env.PATH ?? '').split(':'), ...newestFirst]) {
    const isThere = await access(join(directory, 'initdb')).then(
      () => true,
      () => false,
    )
    if (directory !== '' && isThere) return directory
  }
  throw new Error(
    'these tests start PostgreSQL: install it (Debian: apt-get install postgresql; Homebrew: postgresql)',
  )
}

async function succeeded(child: ChildProcess, name: string): Promise<void> {
  let errors = ''
  child.stderr?.on('data', (data: Buffer) => {
    errors += data.toString()
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${name} failed: ${errors}`)
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port is free')
  return address.port
}
