// The program as WebAssembly: one instance, and the bytes that cross its border. Used by the worker of the page and by tests in node.
// Questions pass as JSON; a reply is a line about the answer and its bytes. Refuses to interpret either.

const decoder = new TextDecoder()
const encoder = new TextEncoder()

/** Thrown when the program itself fails; its instance is of no use afterwards. */
export class Failed extends Error {}

export class Program {
  #exports
  #failure = ''
  #report = () => {}

  /** An instance of a compiled module. */
  constructor(module) {
    const text = (at, length) => decoder.decode(new Uint8Array(this.#exports.memory.buffer, at >>> 0, length >>> 0))
    const page = {
      milliseconds: () => performance.now(),
      progress: (at, length) => this.#report(text(at, length)),
      failed: (at, length) => {
        this.#failure = text(at, length)
      },
    }
    this.#exports = new WebAssembly.Instance(module, { page }).exports
  }

  /** Hands over a file; a command reads it as `upload:` and its path behind `uploads/`. */
  file(path, bytes) {
    const name = encoder.encode(path)
    const whole = new Uint8Array(name.length + bytes.length)
    whole.set(name)
    whole.set(bytes, name.length)
    this.#put(whole)
    if (!this.#call(() => this.#exports.railwright_file(name.length))) throw new Failed(`no file can be called ${path}`)
  }

  /** What the page shows first. */
  start() {
    return this.#reply(this.#call(() => this.#exports.railwright_start()))
  }

  /** The reply to `{command, arguments, format}`; `report` receives the progress as JSON. */
  ask(question, report = () => {}) {
    this.#put(encoder.encode(JSON.stringify(question)))
    this.#report = report
    return this.#reply(this.#call(() => this.#exports.railwright_ask()))
  }

  #call(work) {
    try {
      return work()
    } catch (error) {
      throw new Failed(this.#failure || String(error))
    }
  }

  #put(bytes) {
    const at = this.#call(() => this.#exports.railwright_buffer(bytes.length))
    new Uint8Array(this.#exports.memory.buffer, at >>> 0, bytes.length).set(bytes)
  }

  /** A line of JSON, then the bytes; copied, because the next question overwrites them. */
  #reply(length) {
    const at = this.#exports.railwright_reply() >>> 0
    const whole = new Uint8Array(this.#exports.memory.buffer, at, length >>> 0)
    const line = whole.indexOf(10)
    return { about: JSON.parse(decoder.decode(whole.subarray(0, line))), body: whole.slice(line + 1) }
  }
}
