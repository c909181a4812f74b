#!/bin/sh
# Compile the kit's own classes of Java, or write them to another folder: compile-java.sh [FOLDER]
# They are for Java 17, the oldest that runs a release. It needs a JDK, 17 or later; each makes the same files,
# as long as no source has lambdas, records, or inner classes that are not static: later JDKs write them otherwise.
set -eu
cd "$(dirname "$0")/../implementations/jvm"
rm -rf "${1:-classes}"
find sources -name '*.java' -exec "${JAVA_HOME:+$JAVA_HOME/bin/}javac" \
    --release 17 -g:none -proc:none -implicit:none -XDstringConcat=inline -sourcepath stubs -d "${1:-classes}" {} +
