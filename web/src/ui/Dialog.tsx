import { createContext, type ComponentChildren } from "preact";
import { useCallback, useContext, useEffect, useRef, useState } from "preact/hooks";

interface DialogProps {
  title: string;
  onClose: () => void;
  wide?: boolean;
  children: ComponentChildren;
}

/** A dialog over the page; the browser keeps the focus inside, and Escape closes it. */
export function Dialog({ title, onClose, wide = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current!.showModal();
  }, []);
  return (
    <dialog ref={dialog} class={wide ? "wide" : ""} aria-labelledby="dialog-title" onClose={onClose}>
      <div class="dialog-head">
        <h2 id="dialog-title">{title}</h2>
        <button type="button" class="plain" aria-label="Close" onClick={() => dialog.current!.close()}>
          ×
        </button>
      </div>
      {children}
    </dialog>
  );
}

export interface Question {
  title: string;
  text: ComponentChildren;
  action: string;
  /** Whether something is lost if the answer is yes. */
  destructive?: boolean;
}

interface Talk {
  ask: (question: Question) => Promise<boolean>;
  say: (sentence: string) => void;
}

const TalkContext = createContext<Talk | null>(null);
const SAID_FOR_MS = 6_000;

/** Asks before something is done, and says that it was. */
export function useTalk(): Talk {
  return useContext(TalkContext)!;
}

export function Talking({ children }: { children: ComponentChildren }) {
  const [question, setQuestion] = useState<(Question & { answer: (yes: boolean) => void }) | null>(null);
  const [said, setSaid] = useState("");
  useEffect(() => {
    if (!said) return;
    const timer = setTimeout(() => setSaid(""), SAID_FOR_MS);
    return () => clearTimeout(timer);
  }, [said]);

  const ask = useCallback(
    (asked: Question) => new Promise<boolean>((answer) => setQuestion({ ...asked, answer })),
    [],
  );
  const settle = (yes: boolean) => {
    question?.answer(yes);
    setQuestion(null);
  };
  return (
    <TalkContext.Provider value={{ ask, say: setSaid }}>
      {children}
      <div class="said" role="status">{said && <p>{said}</p>}</div>
      {question && (
        <Dialog title={question.title} onClose={() => settle(false)}>
          <div class="dialog-text">{question.text}</div>
          <div class="dialog-foot">
            <button type="button" onClick={() => settle(false)}>Cancel</button>
            <button type="button" class={question.destructive ? "danger" : "primary"} onClick={() => settle(true)}>
              {question.action}
            </button>
          </div>
        </Dialog>
      )}
    </TalkContext.Provider>
  );
}
