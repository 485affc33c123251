"""Links the words of two texts: links.py SOURCE TARGET > links"""

import sys

import sylvan


def main() -> None:
    aligner = sylvan.Aligner.train(sys.argv[1], sys.argv[2], on_progress=lambda line: print(line, file=sys.stderr))
    for line in aligner.links():
        print(line)


if __name__ == "__main__":
    main()
