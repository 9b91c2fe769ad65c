import { config } from 'zod'

// zod looks whether it may compile schemas, by compiling something: the page's policy forbids it, and reports each try.
// Imported before everything that makes a schema.
config({ jitless: true })
