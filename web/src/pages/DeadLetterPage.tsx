import { useMemo, useState } from "preact/hooks";
import { API, get, post, sentenceOf, type Schemas } from "../api";
import { bytes, count, moment } from "../format";
import { useLoad } from "../load";
import { to } from "../router";
import { useSession } from "../session";
import { useTalk } from "../ui/Dialog";
import { Card, Facts, Page, Show } from "../ui/Page";
import { Table } from "../ui/Table";

type WholeLetter = Schemas["WholeLetter"];

const MOST_BYTES = 16_384;

/** One dead letter with its bytes; sent again after a question. */
export function DeadLetterPage({ id }: { id: string }) {
  const { may } = useSession();
  const { ask, say } = useTalk();
  const path = `${API}/deadletters/${encodeURIComponent(id)}`;
  const letter = useLoad(id, (signal) => get<WholeLetter>(path, {}, signal));
  const found = letter.data;
  const replay = async () => {
    const before = found?.replay;
    const yes = await ask({
      title: before ? "Send it again once more?" : "Send it again?",
      text: (
        <>
          <p>The record goes to <code>{found?.topic}</code> as it was. Do it when what was wrong has been mended: else it comes back here.</p>
          {before && <p>It was sent already by {before.by}, at {moment(before.at_ms)}.</p>}
        </>
      ),
      action: "Send again",
      destructive: Boolean(before),
    });
    if (!yes) return;
    await post(`${path}/replay`, { again: Boolean(before) }).then(() => say("The record was sent again."), (error) => say(sentenceOf(error)));
    letter.reload();
  };
  return (
    <Page
      title={`Dead letter ${id}`}
      needs={["deadletter:read"]}
      back={{ href: to(["deadletters"]), title: "Dead letters" }}
      actions={found?.topic && may("deadletter:replay") && <button type="button" class="primary" onClick={replay}>Send again…</button>}
    >
      <Show of={letter}>
        {(each) => (
          <>
            <p class="verdict fair"><strong>Reason</strong><span>{each.reason}</span></p>
            <Bytes of={each} />
            <div class="halves">
              <Card title="About" id="about">
                <Facts
                  of={[
                    ["Came from", each.topic ?? "a device; it never was on a topic"],
                    ["Key", each.key ?? "–"],
                    ["Stream", each.stream ? `${each.site} / ${each.stream}` : "–"],
                    ["Number", each.number === null ? "–" : count(each.number)],
                    ["Written", moment(each.at_ms)],
                    ["Sent again", each.replay ? `${moment(each.replay.at_ms)} by ${each.replay.by} (${each.replay.progress})` : "no"],
                  ]}
                />
              </Card>
              <Card title="Headers" id="headers"><Headers of={each.headers} /></Card>
            </div>
          </>
        )}
      </Show>
    </Page>
  );
}

function Bytes({ of }: { of: WholeLetter }) {
  const [asHex, setAsHex] = useState(of.text === null);
  const hex = useMemo(() => (asHex ? hexOf(decode(of.value_base64)) : ""), [asHex, of]);
  return (
    <Card
      title={`Bytes (${bytes(of.size_bytes)})`}
      id="bytes"
      aside={
        <div class="ranges" role="group" aria-label="Shown as">
          <button type="button" aria-pressed={!asHex} disabled={of.text === null} onClick={() => setAsHex(false)}>Text</button>
          <button type="button" aria-pressed={asHex} onClick={() => setAsHex(true)}>Hex</button>
        </div>
      }
    >
      <pre class="bytes" tabIndex={0} aria-label="Bytes of the letter">{asHex ? hex : of.text!.slice(0, MOST_BYTES)}</pre>
      {of.size_bytes > MOST_BYTES && <p class="quiet">The first {bytes(MOST_BYTES)} are shown.</p>}
    </Card>
  );
}

function Headers({ of }: { of: WholeLetter["headers"] }) {
  if (!of.length) return <p class="empty">It has none.</p>;
  return (
    <Table
      label="Headers"
      rows={of}
      keyOf={(header) => header.name}
      columns={[
        { title: "Header", cell: (header) => <strong>{header.name}</strong>, class: "name" },
        { title: "Value", cell: (header) => <code>{readable(decode(header.value_base64))}</code>, class: "wide" },
      ]}
    />
  );
}

function decode(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/** Text if it is some, else hexadecimal digits. */
function readable(data: Uint8Array): string {
  const isText = data.every((byte) => byte >= 32 && byte < 127);
  return isText ? String.fromCharCode(...data) : [...data].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
}

/** Sixteen bytes a line: where they are, their digits, and the letters among them. */
function hexOf(data: Uint8Array): string {
  const lines = [];
  for (let start = 0; start < Math.min(data.length, MOST_BYTES); start += 16) {
    const part = [...data.slice(start, start + 16)];
    const digits = part.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const letters = part.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "·")).join("");
    lines.push(`${start.toString(16).padStart(6, "0")}  ${digits.padEnd(47)}  ${letters}`);
  }
  return lines.join("\n");
}
