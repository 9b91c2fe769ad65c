import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { startServer } from '../src/server/server.js'
import { startHttpServer } from './support/httpServer.js'
import { createLogLines } from './support/logLines.js'
import { serverConfig } from './support/serverEnvironment.js'
import { temporaryDirectory } from './support/temporaryDirectory.js'

// No container can be built here: what the image does is read from its file, and its commands are run by themselves.

interface Instruction {
  readonly name: string
  readonly value: string
}

/** The instructions of the Dockerfile, without comments, each on one line. */
function instructions(): Instruction[] {
  const text = readFileSync('Dockerfile', 'utf8')
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
  return text
    .split('\n')
    .map((line) => /^(\w+) (.+)$/.exec(line))
    .flatMap((match) => (match?.[1] && match[2] ? [{ name: match[1], value: match[2] }] : []))
}

const all = instructions()
/** What makes the image itself: the last stage. */
const image = all.slice(all.findLastIndex(({ name }) => name === 'FROM'))
const valuesOf = (name: string) => image.filter((entry) => entry.name === name).map(({ value }) => value)
const execForm = (text: string): string[] =>
  z.array(z.string()).parse(JSON.parse(text.slice(text.indexOf('['))))

describe('the image', () => {
  test('runs on the oldest Node that the package takes, the same in each stage', () => {
    const { engines } = z
      .object({ engines: z.object({ node: z.string() }) })
      .parse(JSON.parse(readFileSync('package.json', 'utf8')))
    const major = /^>=(\d+)/.exec(engines.node)?.[1]
    const bases = all.filter(({ name }) => name === 'FROM').map(({ value }) => value.split(' ')[0])
    expect(new Set(bases)).toEqual(new Set([`node:${major}-slim`]))
  })

  test('does not run as root, and nothing after USER needs it', () => {
    expect(valuesOf('USER')).toEqual(['1000:1000'])
    const afterUser = image.slice(image.findIndex(({ name }) => name === 'USER'))
    expect(afterUser.filter(({ name }) => ['RUN', 'COPY', 'ADD'].includes(name))).toEqual([])
  })

  test('has no secret in it: of the environment it sets paths alone', () => {
    const set = all.filter(({ name }) => name === 'ENV' || name === 'ARG').map(({ value }) => value)
    expect(set).toEqual(['NODE_ENV=production DATA_DIR=/data ENCLAVE_ENV_FILE=/run/secrets/enclave.env'])
  })

  test('gets signals itself: Node is process 1, and the program is the built server', () => {
    const command = execForm(valuesOf('CMD')[0] ?? '')
    expect(command[0]).toBe('node')
    expect(command.at(-1)).toBe('dist/server/main.js')
    expect(readFileSync('package.json', 'utf8')).toContain(`node ${command.at(-1)}`)
  })

  test('takes only what is named into its build, and neither environment files nor the sandbox', () => {
    const lines = readFileSync('.dockerignore', 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
    expect(lines[0]).toBe('*')
    expect(lines.slice(-2)).toEqual(['src/sandbox', '**/.env*'])
    const taken = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1))
    const copied = all
      .filter(({ name, value }) => name === 'COPY' && !value.startsWith('--from'))
      .flatMap(({ value }) => value.split(' ').slice(0, -1))
    expect(new Set(copied)).toEqual(new Set(taken))
  })
})

describe('the health check', () => {
  const [program = '', ...args] = execForm(valuesOf('HEALTHCHECK')[0] ?? '')
  const check = (port: number | string) =>
    promisify(execFile)(program, args, { env: { PATH: process.env.PATH, PORT: String(port) } })

  test('passes on a server that runs', async () => {
    const config = serverConfig({ DATA_DIR: await temporaryDirectory() })
    const server = await startServer(config, createLogLines().logger)
    onTestFinished(() => server.stop())
    await expect(check(server.port)).resolves.toMatchObject({ stdout: '', stderr: '' })
  })

  test('fails where nobody listens, and where the answer is an error', async () => {
    const gone = await startHttpServer((_req, res) => res.end())
    await gone.stop()
    await expect(check(new URL(gone.url).port)).rejects.toMatchObject({ code: 1 })
    const broken = await startHttpServer((_req, res) => res.writeHead(503).end())
    onTestFinished(() => broken.stop())
    await expect(check(new URL(broken.url).port)).rejects.toMatchObject({ code: 1 })
  })
})
